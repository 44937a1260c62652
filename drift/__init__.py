"""Audits on a schedule: baseline, changes, exit codes, signals."""
