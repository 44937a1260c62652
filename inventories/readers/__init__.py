"""Hosts out of configuration that other programs have: ssh, kubectl, Ansible."""
