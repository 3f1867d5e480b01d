"""A write that is repeated with its Idempotency-Key has one effect and gets its first response again."""
