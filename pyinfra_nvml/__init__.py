"""Keeps the GPUs of containers reachable: audit and repair of GPU nodes with pyinfra.

In a checkout the packages here are links to the folders beside this one; in a wheel they lie here.
"""
