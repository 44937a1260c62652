"""The last run as a textfile for Prometheus' node_exporter."""
