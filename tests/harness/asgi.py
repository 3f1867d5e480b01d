"""One request to an app of ours without a server in between."""

from typing import Any

import httpx


async def ask(
    app: Any,
    method: str,
    path: str,
    headers: dict[str, str],
    *,
    body: bytes = b"",
    address: str = "192.0.2.1",
) -> dict[str, Any]:
    """The beginning of the response, with its status and headers."""
    transport = httpx.ASGITransport(app=app, client=(address, 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
        response = await client.request(method, path, content=body, headers=headers)
    return {"status": response.status_code, "headers": response.headers.raw}
