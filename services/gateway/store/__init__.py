"""All SQL of the gateway: studios, clients and keys, which are its own."""
