"""The operators' API: its own port, its own token."""
