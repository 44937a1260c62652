"""Rights across MIG instances: who has them, and the monitor that may."""
