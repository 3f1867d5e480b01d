"""The error object and the list of a 422."""

TEXTS = {
    "error": "What went wrong.",
    "detail": "Every problem of the request, each with its place.",
    "ErrorInfo.type": "The broad class of error. It follows from the status.",
    "ErrorInfo.code": "A stable word to decide by.",
    "message": "A sentence for the person who reads the log.",
    "param": "The part of the request that is at fault, or null.",
    "ErrorInfo.details": "More about the refusal. What it holds depends on the code.",
    "ErrorInfo.request_id": "The request's id, as in `X-Request-Id`. Name it when you ask us.",
    "loc": "Where the problem is: `body`, `query`, `path` or `header`, then the way to the value.",
    "msg": "A sentence that says what is wrong.",
    "ValidationProblem.type": "A stable word for the kind of problem.",
}
