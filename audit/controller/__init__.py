"""The machine that runs pyinfra: its connections, its memory, the files that it runs."""
