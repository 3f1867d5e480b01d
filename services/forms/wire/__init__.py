"""Request and response structs, one file per noun."""
