"""Sends deliveries: lane by lane, so that an endpoint only ever delays itself."""
