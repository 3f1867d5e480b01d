"""What every service uses. Knows no service."""
