"""Commands that send one request to the operators' API and print the response."""

import inspect
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from typer import Option

from services.cli.command import Call, Command, CommandFailed, confirm
from services.cli.values import Id, Limit, Member, Studio, Yes, in_zone

if TYPE_CHECKING:
    from services.cli.operator_client import OperatorClient

PAGE = 200
# For the examples.
AN_ID = "8c1f5e0a-3b0e-4d52-9a41-3f2f7f9b0c55"

Fields = dict[str, Any]


class Argument(NamedTuple):
    """Fills a field of the path, or of the query or body. Without a default it is required."""

    field: str
    kind: Any
    default: Any = inspect.Parameter.empty

    @property
    def parameter(self) -> inspect.Parameter:
        return inspect.Parameter(
            self.field, inspect.Parameter.KEYWORD_ONLY, annotation=self.kind, default=self.default
        )


def option(
    field: str, name: str, kind: Any = str, help: str = "", *, metavar: str | None = None, default: Any = None
) -> Argument:
    """`kind` is a type, or the function that reads the value. An option is left out unless it is given."""
    is_type = isinstance(kind, type) or get_origin(kind) is Literal
    described = Option(name, parser=None if is_type else kind, metavar=metavar, help=help or None)
    return Argument(field, Annotated[(kind if is_type else str) | None, described], default)


def required(argument: Argument) -> Argument:
    return argument._replace(default=inspect.Parameter.empty)


def flag(field: str, name: str, help: str) -> Argument:
    return option(field, name, bool, help, default=False)


def changes_nothing(given: Fields, *named: str) -> bool:
    """Whether no option was given, apart from those that name what to change."""
    return all(value is None for field, value in given.items() if field not in named)


ID = Argument("id", Id)
MEMBER = Argument("member_id", Member)
STUDIO = Argument("studio", Studio, None)
LIMIT = Argument("limit", Limit, "50")
YES = Argument("yes", Yes, False)
NAME = required(option("name", "--name"))
ONE = (ID, STUDIO)
LIST = (STUDIO, LIMIT)


class Request(NamedTuple):
    """A command and what it sends, for example `GET /keys/{id}`.

    A path with `{studio}` belongs to a desk: --studio may be omitted if there is only one, and times are in
    its zone. Arguments that are not in the path are sent as the query of a GET, otherwise as the body.
    """

    name: str
    about: str
    sends: str
    arguments: tuple[Argument, ...] = ()
    # What follows the name in the example.
    example: str = ""
    # Of a list, on a terminal.
    columns: tuple[str, ...] = ()
    # Replaces what was typed by what is sent, where they differ.
    prepare: Callable[["Desk", Fields], None] | None = None
    # Asked before what cannot be undone.
    question: str | Callable[["Desk", Fields], str] = ""
    # What is wrong with the options together: a sentence, or nothing.
    check: Callable[[Fields], str] = lambda given: ""
    order_by: Callable[[Fields], Any] | None = None

    @property
    def path(self) -> str:
        return self.sends.partition(" ")[2]

    @property
    def command(self) -> Command:
        def run(call: Call, **given: Any) -> None:
            send(self, call, given)

        arguments = [argument.parameter for argument in self.arguments]
        return Command(self.name, self.about, run, arguments, self.example)


class Desk:
    """The operators' API as a request sees it: for one studio, or for all."""

    def __init__(self, operators: "OperatorClient", studio: Fields | None) -> None:
        self.operators = operators
        self.studio = studio or {}
        self.zone = _zone(self.studio.get("timezone"))

    def get(self, path: str, **query: str | None) -> Fields:
        response: Fields = self.operators.get(f"/studios/{self.studio['id']}{path}", **query)
        return response

    def member_id(self, text: str) -> str:
        if "@" not in text:
            return text
        found = self.get("/members", email=text)["data"]
        if not found:
            raise CommandFailed(f"{self.studio['name']} has no member with the email {text}.")
        return str(found[0]["id"])


def open_desk(call: Call, studio: str | None) -> Desk:
    return Desk(call.operators, chosen_studio(call.operators, studio))


def chosen_studio(operators: "OperatorClient", studio: str | None) -> Fields:
    """The studio given by --studio, or the only one there is."""
    if studio is not None:
        found: Fields = operators.get(f"/studios/{studio}")
        return found
    studios: list[Fields] = operators.get("/studios")["data"]
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


def send(row: Request, call: Call, given: Fields) -> None:
    if wrong := row.check(given):
        raise CommandFailed(wrong, exit_code=2)
    is_desk = "{studio}" in row.path
    desk = open_desk(call, given.pop("studio")) if is_desk else Desk(call.operators, None)
    yes = given.pop("yes", True)
    if row.question and not yes:
        question = row.question if isinstance(row.question, str) else row.question(desk, given)
        confirm(question, yes=False)
    if row.prepare is not None:
        row.prepare(desk, given)
    fields = dict(_sent(desk, given))
    path = row.path.format_map(fields | {"studio": desk.studio.get("id")})
    rest = {field: value for field, value in fields.items() if f"{{{field}}}" not in row.path}
    response = _request(row, desk.operators, path, rest)
    if row.order_by is not None:
        response["data"].sort(key=row.order_by)
    call.show(response, row.columns, desk.zone)


def _sent(desk: Desk, given: Fields) -> Iterator[tuple[str, Any]]:
    for field, value in given.items():
        if isinstance(value, datetime):
            yield field, in_zone(value, desk.zone).isoformat()
        elif field == "member_id" and value is not None:
            yield field, desk.member_id(value)
        elif value is not None:
            yield field, value


def _request(row: Request, operators: "OperatorClient", path: str, fields: Fields) -> Any:
    method = row.sends.partition(" ")[0]
    if method == "GET":
        query = {field: str(value) for field, value in fields.items()}
        return rows(operators, path, query) if "limit" in query else operators.get(path, **query)
    takes_body = any(f"{{{one.field}}}" not in row.path and one.field != "yes" for one in row.arguments)
    return operators.send(method, path, fields if takes_body else None)


def rows(operators: "OperatorClient", path: str, query: dict[str, str]) -> Fields:
    """The first `limit` rows as one list, however many pages they take."""
    limit = int(query["limit"])
    data: list[Any] = []
    cursor = None
    while True:
        page = operators.get(path, **query | {"limit": str(min(PAGE, limit - len(data))), "cursor": cursor})
        data += page["data"]
        cursor = page["next_cursor"]
        if not page["has_more"] or len(data) >= limit:
            response: Fields = page | {"data": data}
            return response
