"""The HTTP client for the operators' API that studioctl uses."""

import http.client
import json
from collections.abc import Mapping
from typing import IO, Any, Final
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from services.cli.command import CommandFailed
from services.cli.secrets import with_secrets
from shared.settings import Settings

RUN_FILE = "run.json"
PIECE: Final = 256 * 1024


class OperatorClient:
    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self.url = url.rstrip("/")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=600)
        self.token = token
        self._headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **query: str | None) -> Any:
        return self.request("GET", path, query=query)

    def post(self, path: str, body: Any = None, **query: str | None) -> Any:
        return self.send("POST", path, body, **query)

    def send(self, method: str, path: str, body: Any, **query: str | None) -> Any:
        return self.request(
            method, path, msgspec.json.encode(body) if body is not None else None, query=query
        )

    def copy(self, path: str, to: IO[bytes], **query: str | None) -> None:
        """Writes a long response while it arrives. One that is cut off fails."""
        response = self._response("GET", path, None, query)
        try:
            if response.status >= 400:
                raise CommandFailed(_refusal(response.status, response.read()))
            while part := response.read(PIECE):
                to.write(part)
            to.flush()
        except http.client.HTTPException:
            raise CommandFailed("The response was cut off; what was written is not complete.") from None

    def request(
        self, method: str, path: str, body: bytes | None = None, *, query: dict[str, Any] | None = None
    ) -> Any:
        response = self._response(method, path, body, query or {})
        try:
            raw = response.read()
        except (OSError, http.client.HTTPException) as problem:
            raise self._unreachable(problem) from None
        if response.status >= 400:
            raise CommandFailed(_refusal(response.status, raw))
        return json.loads(raw) if raw else None

    def _response(
        self, method: str, path: str, body: bytes | None, query: Mapping[str, str | None]
    ) -> http.client.HTTPResponse:
        given = {name: value for name, value in query.items() if value is not None}
        target = "/operator/v1" + quote(path) + (f"?{urlencode(given)}" if given else "")
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            self._connection.request(method, target, body, headers)
            return self._connection.getresponse()
        except (OSError, http.client.HTTPException) as problem:
            raise self._unreachable(problem) from None

    def _unreachable(self, problem: Exception) -> CommandFailed:
        return CommandFailed(f"The operators' API at {self.url} does not answer: {problem}")


def client_for(settings: Settings) -> OperatorClient:
    """For the system named in the environment, or the one that runs from this home."""
    settings = with_secrets(settings, make=False)
    if not settings.operator_tokens:
        raise CommandFailed(
            f"There is no operator token: set STUDIO_OPERATOR_TOKEN, or run `studioctl up` first "
            f"(its home is {settings.home})."
        )
    return OperatorClient(_operator_url(settings), settings.operator_tokens[0])


def _operator_url(settings: Settings) -> str:
    if settings.operator_url is not None:
        return settings.operator_url
    run = settings.home / RUN_FILE
    if run.exists():
        return str(json.loads(run.read_text())["operator_url"])
    return f"http://{settings.operator_host}:{settings.operator_port}"


def _refusal(status: int, raw: bytes) -> str:
    try:
        response = json.loads(raw)
        error, problems = response["error"], response.get("detail") or []
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"The operators' API answered {status}."
    if not problems:
        return f"{error['message']} ({error['code']})"
    problems_in_words = [
        f"{'.'.join(map(str, problem['loc'][1:]))}: {_in_words(problem)}" for problem in problems
    ]
    return f"{' '.join(problems_in_words)} ({error['code']})"


def _in_words(problem: dict[str, Any]) -> str:
    """A regular expression does not help the user. The field's name and the kind of problem do."""
    if problem["type"] == "string_pattern_mismatch":
        return "The text does not have the required format."
    return str(problem["msg"]).replace("`", "")
