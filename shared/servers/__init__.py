"""Starts private Postgres and RabbitMQ servers on loopback for `studioctl up`, tests and bench."""
