"""Request and response structs of the gateway's own routes, one file per noun."""
