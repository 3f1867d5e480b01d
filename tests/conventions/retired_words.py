"""Words that were used as private metaphors, with what to say instead. They may not come back as names."""

RETIRED_WORDS = {
    "together": "batch, batcher",
    "lend": "acquire",
    "lent": "acquired",
    "lender": "connection pool",
    "lending": "connection pool",
    "mend": "reset",
    "mending": "resetting",
    "telling": "event builders, error lines",
    "hand": "prefetch",
    "hands": "prefetch",
    "handed": "passed",
    "under_way": "in flight",
    "asked": "request, query, lookup",
    "asking": "request",
    "stirred": "has unread input",
    "beside": "optional, side by side, with",
    "patience": "timeout",
    "patient": "wait for locks",
}
