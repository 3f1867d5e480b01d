"""All SQL of the webhooks service."""
