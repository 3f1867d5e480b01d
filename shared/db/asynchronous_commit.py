"""A condition that makes a statement's commit asynchronous: it does not wait for the disk."""

# Only for a statement whose loss in a crash of the database does no harm. It is the statement's own
# transaction, or the whole of one in which nothing else must survive.
ASYNCHRONOUS_COMMIT = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'"
