"""The operators' API over plain HTTP, which is the same in every commit that we compare."""

import json
import urllib.error
import urllib.request
from typing import Any

from bench.problem import BenchProblem


class OperatorClient:
    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url}/operator/v1"
        self._token = token

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._ask("POST", path, body)

    def patch(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._ask("PATCH", path, body)

    def _ask(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(self._url + path, json.dumps(body).encode(), method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                made: dict[str, Any] = json.loads(response.read())
                return made
        except urllib.error.HTTPError as refusal:
            raise BenchProblem(f"{method} {path}: {refusal.code} {refusal.read().decode()[:300]}") from None
