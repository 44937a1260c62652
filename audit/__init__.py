"""Judging one node: its checks and waivers come to a verdict, to JSON and back."""
