"""Prometheus and node_exporter themselves, and what they are given."""
