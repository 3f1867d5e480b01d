"""One file per write; owns the transaction."""
