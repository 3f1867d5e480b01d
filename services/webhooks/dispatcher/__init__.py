"""Sends deliveries, lane by lane, so that an endpoint can only delay itself."""
