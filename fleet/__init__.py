"""One run of pyinfra: connections, batches and canary, cluster access, the report at its end."""
