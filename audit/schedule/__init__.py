"""The timer that audits, on nodes or on a controller, and Slurm's ear for it."""
