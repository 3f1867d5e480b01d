"""Starts real servers for `studioctl up`, tests and bench: private, on loopback, ended with their owner."""
