"""One file per write; each owns its transaction."""
