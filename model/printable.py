"""What a node said, made safe to show: nothing in it steers a terminal or hides text."""

from __future__ import annotations

import unicodedata

# Controls (Cc), invisible and direction-changing format characters (Cf), halves of pairs (Cs),
# private use (Co), separators of lines and paragraphs (Zl, Zp): Unicode, general categories.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str) -> str:
    r"""The text on one line, with every character that shows nothing written as its escape.

    .. code:: python

        printable("web\x1b[2J") == r"web\x1b[2J"
    """
    if text.isprintable():
        return text
    return "".join(_escape(c) if unicodedata.category(c) in _HIDDEN else c for c in text)


def brief(text: str, most: int = 1000) -> str:
    """The printable text, of one that no screen holds its beginning, and how much that leaves out.

    .. code:: python

        brief("x" * 10_000, 4) == "xxxx ... (9996 more characters)"
    """
    shown = printable(text[:most])
    return shown if len(text) <= most else f"{shown} ... ({len(text) - most} more characters)"


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
