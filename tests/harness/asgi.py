"""One request to an app of ours without a server in between."""

from typing import Any


async def ask(
    app: Any,
    method: str,
    path: str,
    headers: dict[str, str],
    *,
    body: bytes = b"",
    address: str = "192.0.2.1",
) -> Any:
    """The beginning of the response, with its status and headers."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": (address, "4711"),
    }
    await app(scope, receive, send)
    return sent[0]
