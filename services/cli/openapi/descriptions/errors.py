"""The error object and the list of a 422."""

TEXTS = {
    "error": "What went wrong.",
    "detail": "Every problem of the request, each with its location.",
    "ErrorInfo.type": "The broad class of error. It follows from the status.",
    "ErrorInfo.code": "A stable code for programs.",
    "message": "An explanation for people. Do not parse it.",
    "param": "The part of the request that caused the error, or null.",
    "ErrorInfo.details": "More about the error. Its content depends on the code.",
    "ErrorInfo.request_id": "The request's id, as in `X-Request-Id`. Quote it to support.",
    "loc": "Where the problem is: `body`, `query`, `path` or `header`, then the path to the value.",
    "msg": "A sentence that says what is wrong.",
    "ValidationProblem.type": "A stable code for the kind of problem.",
}
