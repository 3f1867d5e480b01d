"""What travels: request and response structs, one file per noun."""
