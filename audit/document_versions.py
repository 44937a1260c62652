"""The forms of the JSON documents that this program writes, and the only ones that it reads.

A number goes up when a reader of the old form could be misled; a new key alone does not raise it.
"""

AUDIT = 1
"""audit.json and accepted.json (audit/document.py)."""

DRIFT = 1
"""drift.json (docs/drift.schema.json)."""
