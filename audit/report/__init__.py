"""The audit told: in the terminal, as JSON, HTML, JUnit XML and Markdown."""
