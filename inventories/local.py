"""This machine."""

hosts = ["@local"]
