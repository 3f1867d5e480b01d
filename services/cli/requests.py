"""Commands that send one request to the operators' API and print the response."""

import inspect
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_origin
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from typer import Option

from services.cli.command import Call, Command, CommandFailed, confirm
from services.cli.values import METAVARS, Id, Limit, Member, Studio, Yes, in_zone

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
    name: str,
    kind: Any = str,
    help: str | None = None,
    *,
    field: str = "",
    metavar: str | None = None,
    default: Any = None,
) -> Argument:
    """`kind` is a type, or the function that reads the value. An option is left out unless it is given.

    It fills the field of its own name if no other is given.
    """
    is_type = isinstance(kind, type) or get_origin(kind) is Literal
    metavar = metavar or (None if is_type else METAVARS.get(kind))
    described = Option(name, parser=None if is_type else kind, metavar=metavar, help=help)
    known = field or name.removeprefix("--").replace("-", "_")
    return Argument(known, Annotated[(kind if is_type else str) | None, described], default)


def required(argument: Argument) -> Argument:
    return argument._replace(default=inspect.Parameter.empty)


def flag(name: str, help: str) -> Argument:
    return option(name, bool, help, default=False)


def changes_nothing(given: Fields, *named: str) -> bool:
    """Whether no option was given, apart from those that name what to change."""
    return all(value is None for field, value in given.items() if field not in named)


STUDIO = Argument("studio", Studio, None)
LIMIT = Argument("limit", Limit, "50")
YES = Argument("yes", Yes, False)
NAME = required(option("--name"))
NEWEST = flag("--newest", "the newest first")
# Typed in this place instead of being an option.
IN_PATH = {
    "id": Id,
    "member_id": Member,
    "client": Annotated[str, typer.Argument(metavar="CLIENT", help="name or id")],
    "queue": Annotated[str, typer.Argument(metavar="QUEUE")],
}
_IN_BRACES = re.compile(r"\{(\w+)\}")


class Request(NamedTuple):
    """A command and what it sends, for example `GET /keys/{id}`.

    A path with `{studio}` belongs to a desk: --studio may be omitted if there is only one, and times are in
    its zone. The other fields of a path are arguments. Options are sent as the query of a GET, otherwise as
    the body.
    """

    name: str
    about: str
    sends: str
    options: tuple[Argument, ...] = ()
    # What follows the name in the example; a plain id if the path has one.
    example: str = ""
    # Of a list, on a terminal.
    columns: tuple[str, ...] = ()
    # Replaces what was typed by what is sent, where they differ.
    prepare: Callable[["Desk", Fields], None] | None = None
    # Asked before what cannot be undone, unless --yes is given.
    question: str | Callable[["Desk", Fields], str] = ""
    # What is wrong with the options together: a sentence, or nothing.
    check: Callable[[Fields], str] = lambda given: ""
    order_by: Callable[[Fields], Any] | None = None

    @property
    def path(self) -> str:
        return self.sends.partition(" ")[2]

    @property
    def fields_in_path(self) -> list[str]:
        return _IN_BRACES.findall(self.path)

    @property
    def command(self) -> Command:
        def run(call: Call, **given: Any) -> None:
            send(self, call, given)

        fields = self.fields_in_path
        arguments = [Argument(field, IN_PATH[field]) for field in fields if field != "studio"]
        arguments += self.options
        if "studio" in fields:
            arguments.append(STUDIO)
        if self.question:
            arguments.append(YES)
        example = self.example or (AN_ID if "id" in fields else "")
        return Command(self.name, self.about, run, [one.parameter for one in arguments], example)


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
    is_desk = "studio" in row.fields_in_path
    desk = open_desk(call, given.pop("studio")) if is_desk else Desk(call.operators, None)
    yes = given.pop("yes", True)
    if row.question and not yes:
        question = row.question if isinstance(row.question, str) else row.question(desk, given)
        confirm(question, yes=False)
    if row.prepare is not None:
        row.prepare(desk, given)
    fields = dict(_sent(desk, given))
    path = row.path.format_map(fields | {"studio": desk.studio.get("id")})
    rest = {field: value for field, value in fields.items() if field not in row.fields_in_path}
    response = _request(row, desk.operators, path, rest)
    if row.order_by is not None:
        response["data"].sort(key=row.order_by)
    call.show(response, row.columns, desk.zone)


def _sent(desk: Desk, given: Fields) -> Iterator[tuple[str, Any]]:
    for field, value in given.items():
        if isinstance(value, datetime):
            yield field, in_zone(value, desk.zone).isoformat()
        elif field == "newest":
            yield from [("order", "desc")] if value else []
        elif field == "member_id" and value is not None:
            yield field, desk.member_id(value)
        elif value is not None:
            yield field, value


def _request(row: Request, operators: "OperatorClient", path: str, fields: Fields) -> Any:
    method = row.sends.partition(" ")[0]
    if method == "GET":
        query = {field: str(value) for field, value in fields.items()}
        return rows(operators, path, query) if "limit" in query else operators.get(path, **query)
    return operators.send(method, path, fields if row.options else None)


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
