"""One studio for the desk's commands: its paths, its time zone, and its rows page by page."""

from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from services.cli.errors import CommandFailed
from services.cli.operator_client import OperatorClient, client_for
from services.cli.values import an_id
from shared.settings import Settings

PAGE = 200


class Desk:
    def __init__(self, operators: OperatorClient, studio: dict[str, Any]) -> None:
        self.operators = operators
        self.studio = studio
        self.zone = _zone(studio["timezone"])

    @classmethod
    def open(cls, settings: Settings, studio: str | None) -> "Desk":
        operators = client_for(settings)
        return cls(operators, chosen_studio(operators, studio))

    def path(self, rest: str) -> str:
        return f"/studios/{self.studio['id']}{rest}"

    def get(self, rest: str, **query: str | None) -> dict[str, Any]:
        answer: dict[str, Any] = self.operators.get(self.path(rest), **query)
        return answer

    def post(self, rest: str, body: Any = None) -> dict[str, Any]:
        answer: dict[str, Any] = self.operators.post(self.path(rest), body)
        return answer

    def patch(self, rest: str, body: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.operators.patch(self.path(rest), body)
        return answer

    def rows(self, rest: str, limit: int, **query: str | None) -> dict[str, Any]:
        """The first `limit` rows as one list, however many pages they take."""
        data: list[Any] = []
        cursor = None
        while True:
            page = self.get(rest, cursor=cursor, limit=str(min(PAGE, limit - len(data))), **query)
            data += page["data"]
            cursor = page["next_cursor"]
            if not page["has_more"] or len(data) >= limit:
                return page | {"data": data}

    def member_id(self, text: str) -> str:
        """A member's id, given the id or an email, which is what the desk usually knows."""
        if "@" not in text:
            return an_id_or_fail(text)
        found = self.get("/members", email=text)["data"]
        if not found:
            raise CommandFailed(f"{self.studio['name']} has no member with the email {text}.")
        return str(found[0]["id"])


def an_id_or_fail(text: str) -> str:
    try:
        return an_id(text)
    except Exception:
        raise CommandFailed(f"{text!r} is neither an email nor an id.", exit_code=2) from None


def chosen_studio(operators: OperatorClient, studio: str | None) -> dict[str, Any]:
    """The studio given by --studio, or the only one there is."""
    if studio is not None:
        found: dict[str, Any] = operators.get(f"/studios/{studio}")
        return found
    studios: list[dict[str, Any]] = operators.get("/studios")["data"]
    if not studios:
        raise CommandFailed("There is no studio yet; create one with `studioctl studios create`.")
    if len(studios) > 1:
        known = ", ".join(f"{studio['slug']} ({studio['name']})" for studio in studios[:10])
        raise CommandFailed(f"Choose a studio with --studio: {known}.", exit_code=2)
    return studios[0]


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
