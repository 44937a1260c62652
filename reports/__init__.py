"""The audit told: terminal, HTML, JSON, JUnit, Markdown, Prometheus."""
