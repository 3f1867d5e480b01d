"""The generated part of the Python client: models, events, errors, and each operation as a method, twice.

Enums stay open where they are received; what is sent is closed, so that type checkers find a misspelt value.
Models that are sent and received (a form's fields) are dictionaries, so that nothing in them is lost on the
way back.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from clients.generate.document import (
    EVENT,
    EVENT_MODELS,
    ROOT,
    AnyOf,
    Document,
    Enum,
    EventKind,
    Field,
    ListOf,
    Literals,
    MapOf,
    Model,
    Named,
    Nullable,
    Operation,
    Scalar,
    Type,
)

FOLDER: Final = ROOT / "clients/python/src/studio_partner"
HEAD: Final = "# Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.\n"
STRUCT: Final = "Struct, frozen=True, kw_only=True"
_SCALARS: Final = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "any": "Any"}
_FORMATS: Final = {"date-time": "datetime", "date": "date", "decimal": "Decimal"}
# Rows of a page when all rows are asked for: the most that the API gives.
PAGE_SIZE: Final = 200
CLIENT_DOC: Final = """`base_url` ends in `/partner/v1`. `timeout` is for one attempt, in seconds.

With `cache`, what has not changed since it was last read is not sent again."""


def files(document: Document) -> dict[Path, str]:
    """Every generated file with its text."""
    printer = _Printer(document)
    made = {
        "models.py": printer.models(),
        "events.py": printer.events(),
        "errors.py": printer.errors(),
        "client.py": printer.clients(),
        "__init__.py": printer.package(),
    }
    return {FOLDER / name: _formatted(HEAD + text, FOLDER / name) for name, text in made.items()}


def _member(value: str) -> str:
    """`24h` is _24H: a name does not begin with a digit."""
    return re.sub(r"^(?=[0-9])|[^A-Z0-9]", "_", value.upper())


def _formatted(text: str, path: Path) -> str:
    ruff, name = str(Path(sys.executable).with_name("ruff")), ["--stdin-filename", str(path), "-"]
    for command in (["check", "--fix", "--quiet", "--select", "I,RUF022"], ["format"]):
        done = subprocess.run(
            [ruff, *command, *name], input=text, capture_output=True, text=True, check=True, cwd=ROOT
        )
        text = done.stdout
    return text


class _Printer:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.enums = {enum.name: enum for enum in document.enums}
        # A list's own model adds nothing to Page.
        self.pages = {one.returns for one in document.operations if one.paged} - {"EventList"}
        self.structs = [
            model
            for model in document.models
            if not model.sent and model.name not in self.pages | EVENT_MODELS | {"EventList"}
        ]
        self.dicts = [model for model in document.models if model.sent]
        received = {name for model in self.structs for field in model.fields for name in _names(field.type)}
        self.open_enums = {name for name in self.enums if name in received}

    def models(self) -> str:
        lines = [
            '"""What the API sends and takes."""',
            "from __future__ import annotations",
            "from datetime import datetime",
            "from decimal import Decimal",
            "from enum import StrEnum",
            "from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias, TypedDict",
            "from msgspec import Struct",
            "from ._values import ShownOnce, Unknown",
            f'API_VERSION = "{self.document.api_version}"',
            "class OpenEnum(StrEnum):",
            '    """A value that is newer than this package is an `Unknown`."""',
            "    @classmethod",
            "    def _missing_(cls, value: object) -> Any:",
            "        return Unknown(str(value))",
        ]
        for enum in self.document.enums:
            lines += self._enum(enum)
        lines += self._dictionaries()
        for model in self.structs:
            lines += [f"class {model.name}({STRUCT}):", *_doc(model.description)]
            for field in model.fields:
                lines += [f"    {field.name}: {self._received(field, model)}", *_doc(field.description)]
        return "\n".join(lines)

    def _enum(self, enum: Enum) -> list[str]:
        literal = f"Literal[{_quoted(enum.values)}]"
        if enum.name not in self.open_enums:
            return [f"{enum.name}: TypeAlias = {literal}"]
        members = [f'    {_member(one)} = "{one}"' for one in enum.values]
        return [
            f"class {enum.name}(OpenEnum):",
            *_doc(enum.description),
            *members,
            "if TYPE_CHECKING:",
            f"    Any{enum.name}: TypeAlias = {enum.name} | Unknown",
            "else:",
            f"    Any{enum.name} = {enum.name}",
            f"{enum.name}Text: TypeAlias = Any{enum.name} | {literal}",
        ]

    def _dictionaries(self) -> Iterator[str]:
        yield "if TYPE_CHECKING:"
        for model in self.dicts:
            yield f"    class {model.name}(TypedDict):"
            yield from _doc(model.description, "        ")
            for field in model.fields:
                wire = self._wire(field.type)
                yield f"        {field.name}: {wire if field.required else f'NotRequired[{wire}]'}"
                yield from _doc(field.description, "        ")
        yield "else:"
        yield f"    {' = '.join(model.name for model in self.dicts)} = dict[str, Any]"

    def _received(self, field: Field, model: Model) -> str:
        if field.name in {one.shown_once for one in self.document.operations if one.returns == model.name}:
            return "ShownOnce"
        text = self._struct_type(field.type)
        return text if field.required else f"{text} | None = None"

    def _struct_type(self, type: Type) -> str:
        match type:
            case Named(name) if name in self.open_enums:
                return f"Any{name}"
            case Named(name):
                return name
            case Scalar(name, format):
                return _FORMATS.get(format or "", _SCALARS[name])
            case Nullable(of):
                return f"{self._struct_type(of)} | None"
            case ListOf(of):
                return f"list[{self._struct_type(of)}]"
            case MapOf(of):
                return f"dict[str, {self._struct_type(of)}]"
            case AnyOf(options):
                return " | ".join(map(self._struct_type, options))
            case Literals(values):
                return f"Literal[{_quoted(values)}]"

    def _wire(self, type: Type) -> str:
        """Part of a dictionary, as JSON has it."""
        match type:
            case Scalar(name, _):
                return _SCALARS[name]
            case Named(name) if name in self.open_enums:
                return f"{name}Text"
            case Nullable(of):
                return f"{self._wire(of)} | None"
            case ListOf(of):
                return f"list[{self._wire(of)}]"
            case MapOf(of):
                return f"dict[str, {self._wire(of)}]"
            case _:
                return self._struct_type(type)

    def _sent(self, type: Type) -> str:
        """An argument of a method."""
        match type:
            case Scalar("string", "date-time" | "date" | "decimal" as format):
                return f"{_FORMATS[format]} | str"
            case Named(name) if name in self.open_enums:
                return f"{name}Text"
            case Named(name) if name in self.enums:
                return f"{name} | Unknown"
            case Nullable(of):
                return f"{self._sent(of)} | None"
            case ListOf(of):
                return f"Sequence[{self._sent(of)}]"
            case MapOf(of):
                return f"Mapping[str, {self._sent(of)}]"
            case AnyOf(options):
                return " | ".join(map(self._sent, options))
            case Literals(values):
                return f"Literal[{_quoted(values)}] | Unknown"
            case _:
                return self._struct_type(type)

    def events(self) -> str:
        kinds = self.document.kinds
        envelope = next(model for model in self.document.models if model.name == EVENT)
        fields = [field for field in envelope.fields if field.name not in ("object", "type", "data")]
        unions = {_union_name(kind.object): kind.object for kind in kinds if isinstance(kind.object, AnyOf)}
        models = sorted({name for kind in kinds for name in _names(kind.object)})
        lines = [
            '"""One class for each kind of event, and `Event`, which is any of them."""',
            "from datetime import datetime",
            "from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar",
            "import msgspec",
            "from msgspec import Struct, field",
            "from ._values import OneOf, Page, Reader, Unknown",
            f"from .models import EventKind as EventKind, EventResource, {', '.join(models)}",
            'T = TypeVar("T")',
            f"class EventData(Struct, Generic[T], {STRUCT.partition(', ')[2]}):",
            *_doc("`object` is the resource as its own operation shows it, or a reference to it."),
            "    object: T",
            "    previous: dict[str, Any] = field(default_factory=dict[str, Any])",
            *_doc("The old values of what changed, in events that tell of a change."),
            "    active: bool | None = None",
            *_doc("Whether an instructor is listed. None for all other resources."),
            f"class EventEnvelope({STRUCT}):",
            *_doc("What every event has, of whatever kind."),
        ]
        attributes = [f"    {one.name}: {self._struct_type(one.type)}" for one in fields]
        for one, attribute in zip(fields, attributes, strict=True):
            lines += [attribute, *_doc(one.description)]
        lines += ["if TYPE_CHECKING:"]
        lines += [f"    {name}: TypeAlias = {self._struct_type(type)}" for name, type in unions.items()]
        lines += ["else:"]
        for name, type in unions.items():
            options = ", ".join(map(self._struct_type, type.options))
            lines += [f"    class {name}(metaclass=OneOf):", f"        options = ({options})"]
        for kind in kinds:
            lines += self._kind(kind)
        lines += [
            "class UnknownEvent(Unknown):",
            *_doc(
                "An event of a kind that is newer than this package. Its text is its kind, `raw` all of it."
            ),
            *attributes,
            "    def __new__(cls, text: str, raw: Any = None) -> Self:",
            "        self = super().__new__(cls, text, raw)",
            "        envelope = msgspec.convert(raw, EventEnvelope)",
            "        for name in EventEnvelope.__struct_fields__:",
            "            setattr(self, name, getattr(envelope, name))",
            "        return self",
            "    @property",
            "    def type(self) -> str:",
            "        return str(self)",
            f"KnownEvent: TypeAlias = {' | '.join(kind.class_name for kind in kinds)}",
            "Event: TypeAlias = KnownEvent | UnknownEvent",
            "class EventPage(Page[Event], frozen=True, kw_only=True):",
            *_doc("Some events, and the oldest and newest sequence that the studio keeps."),
            "    latest_sequence: int",
            "    oldest_sequence: int",
            "class _RawPage(Page[msgspec.Raw], frozen=True, kw_only=True):",
            "    latest_sequence: int",
            "    oldest_sequence: int",
            "_read_known: Reader[KnownEvent] = Reader(KnownEvent)",
            "_read_page = Reader(_RawPage)",
            "def read_event(content: bytes) -> Event:",
            "    try:",
            "        return _read_known(content)",
            "    except msgspec.ValidationError:",
            "        raw = msgspec.json.decode(content, type=dict[str, Any])",
            '        return UnknownEvent(str(raw.get("type")), raw)',
            "def read_event_page(content: bytes) -> EventPage:",
            "    page = _read_page(content)",
            "    return EventPage(",
            "        data=[read_event(row) for row in page.data],",
            "        has_more=page.has_more,",
            "        next_cursor=page.next_cursor,",
            "        latest_sequence=page.latest_sequence,",
            "        oldest_sequence=page.oldest_sequence,",
            "    )",
        ]
        return "\n".join(lines)

    def _kind(self, kind: EventKind) -> list[str]:
        held = _union_name(kind.object) if isinstance(kind.object, AnyOf) else self._struct_type(kind.object)
        return [
            f'class {kind.class_name}(EventEnvelope, frozen=True, tag_field="type", tag="{kind.name}"):',
            *_doc(kind.description),
            f'    type: ClassVar[Literal["{kind.name}"]] = "{kind.name}"',
            f"    data: EventData[{held}]",
        ]

    def errors(self) -> str:
        lines = [
            '"""One exception for each code of the API."""',
            "from ._errors import ApiError, ConnectionFailed, ResyncNeeded, SecretLost, StudioPartnerError",
            "from ._errors import WebhookVerificationError",
            f"__all__ = [{_quoted(self._error_names())}]",
        ]
        for error in self.document.errors:
            lines += [f"class {error.class_name}(ApiError):", *_doc(error.message or error.code)]
        rows = [f'"{error.code}": {error.class_name},' for error in self.document.errors]
        return "\n".join([*lines, "BY_CODE: dict[str, type[ApiError]] = {", *rows, "}"])

    def _error_names(self) -> list[str]:
        other = (
            "ApiError ConnectionFailed ResyncNeeded SecretLost StudioPartnerError WebhookVerificationError"
        )
        return sorted([*other.split(), *(error.class_name for error in self.document.errors)])

    def clients(self) -> str:
        operations = self.document.operations
        constants = [self._constant(one) for one in operations]
        methods = [line for one in operations for line in self._methods(one, "")]
        coroutines = [line for one in operations for line in self._methods(one, "await ")]
        both = "\n".join([*constants, *methods])
        models = sorted(
            name
            for name in {*(model.name for model in self.structs + self.dicts), *self.enums}
            | {f"{name}Text" for name in self.open_enums}
            if re.search(rf"\b{name}\b", both)
        )
        init = [
            "    def __init__(self, key: str, *, base_url: str, timeout: float = 30.0, retries: int = 4,",
            "        cache: bool = False) -> None:",
            *_doc(CLIENT_DOC, "        "),
            "        super().__init__(key, base_url=base_url, timeout=timeout, retries=retries, cache=cache)",
        ]
        return "\n".join(
            [
                '"""Every operation of the API as a method, blocking and with asyncio."""',
                "from collections.abc import AsyncIterator, Iterator, Mapping, Sequence",
                "from datetime import date, datetime",
                "from decimal import Decimal",
                "from typing import Any, Literal",
                "from ._exchange import Operation, segment",
                "from ._following import LIST_EVENTS, AsyncEvents, Events",
                "from ._http import AsyncioClient, BlockingClient",
                "from ._values import UNSET, Page, Reader, Unknown, UnsetType",
                "from .events import Event, EventPage, read_event",
                f"from .models import {', '.join(models)}",
                "def _read_nothing(_: bytes) -> None:",
                "    return None",
                *constants,
                "class Client(BlockingClient):",
                *_doc("The API for code that blocks. Threads may share it. `with` closes it."),
                *init,
                "        self.events = Events(self)",
                *methods,
                "class AsyncClient(AsyncioClient):",
                *_doc("The API for asyncio. `async with` closes it."),
                *init,
                "        self.events = AsyncEvents(self)",
                *coroutines,
            ]
        )

    def _constant(self, one: Operation) -> str:
        if one.returns == "EventList":
            return f"_{one.id.upper()} = LIST_EVENTS"
        read = f"Reader({self._returned(one)})"
        if not one.returns:
            read = "_read_nothing"
        elif one.returns == EVENT:
            read = "read_event"
        options = ", writes=True" if one.writes else ""
        options += f', shown_once="{one.shown_once}"' if one.shown_once else ""
        return f'_{one.id.upper()} = Operation("{one.method}", {read}{options})'

    def _returned(self, one: Operation) -> str:
        if one.returns == "EventList":
            return "EventPage"
        return f"Page[{one.item}]" if one.paged else one.returns or "None"

    def _methods(self, one: Operation, wait: str) -> Iterator[str]:
        """The method of an operation, and the iterator of a list. `wait` is "await " for asyncio."""
        start = "async def" if wait else "def"
        given = [f"{field.name}: {self._sent(field.type)}" for field in one.path_fields]
        query = [(field, self._optional(field, "None")) for field in one.query]
        body = [(field, self._optional(field, "UNSET")) for field in one.body or ()]
        named = sorted(query + body, key=lambda row: not row[0].required)
        key = ["idempotency_key: str | None = None"] if one.writes else []
        signature = [*given, *_starred([text for _, text in named] + key)]
        path = '"' + one.path + '"'
        if one.path_fields:
            path = "f" + re.sub(r"\{(\w+)\}", r"{segment(\1)}", path)
        arguments = [f"_{one.id.upper()}", path]
        if one.query:
            arguments.append(_dictionary("query", one.query))
        if one.body is not None:
            arguments.append(_dictionary("body", one.body))
        if one.writes:
            arguments.append("idempotency_key=idempotency_key")
        returned = self._returned(one)
        yield f"    {start} {one.id}(self, {', '.join(signature)}) -> {returned}:"
        yield from _doc(_described(one), "        ")
        yield f"        return {wait}self._call({', '.join(arguments)})"
        if not one.paged:
            return
        kept = [(field, text) for field, text in named if field.name not in ("cursor", "limit", "wait")]
        signature = [*given, *_starred([*(text for _, text in kept), f"page_size: int = {PAGE_SIZE}"])]
        rows = _dictionary("", [field for field, _ in kept]).removeprefix("=")
        rows = rows.replace("{", '{"limit": page_size, ', 1)
        iterator = f"{'AsyncIterator' if wait else 'Iterator'}[{one.item}]"
        yield f"    def {one.id.replace('list_', 'iter_', 1)}(self, {', '.join(signature)}) -> {iterator}:"
        yield from _doc(f"All rows of `{one.id}`, page after page.", "        ")
        yield f"        return self._rows(_{one.id.upper()}, {path}, {rows})"

    def _optional(self, field: Field, unset: str) -> str:
        text = f"{field.name}: {self._sent(field.type)}"
        if field.required:
            return text
        if unset == "None":
            return f"{text} | None = None"
        # Whoever sorts a union puts None last.
        if isinstance(field.type, Nullable):
            return f"{text.removesuffix(' | None')} | UnsetType | None = UNSET"
        return f"{text} | UnsetType = UNSET"

    def package(self) -> str:
        errors = self._error_names()
        names = ["API_VERSION", "UNSET", "AsyncClient", "Client", "Event", "Page", "Unknown", "UnknownEvent"]
        names += ["UnsetType", "__version__", "errors", "events", "models", "webhooks", *errors]
        return "\n".join(
            [
                '"""The Studio Partner API: `Client`, `AsyncClient`, typed events and verified webhooks."""',
                "from . import errors, events, models, webhooks",
                "from ._values import UNSET, Page, Unknown, UnsetType",
                "from ._version import __version__",
                "from .client import AsyncClient, Client",
                f"from .errors import {', '.join(errors)}",
                "from .events import Event, UnknownEvent",
                "from .models import API_VERSION",
                f"__all__ = [{_quoted(sorted(names))}]",
            ]
        )


def _names(type: Type) -> set[str]:
    match type:
        case Named(name):
            return {name}
        case Nullable(of) | ListOf(of) | MapOf(of):
            return _names(of)
        case AnyOf(options):
            return {name for one in options for name in _names(one)}
        case _:
            return set()


def _union_name(type: AnyOf) -> str:
    return f"{min(_names(type), key=len)}OrReference"


def _starred(arguments: list[str]) -> list[str]:
    return ["*", *arguments] if arguments else []


def _dictionary(name: str, fields: Iterable[Field]) -> str:
    rows = ", ".join(f'"{field.name}": {field.name}' for field in fields)
    return f"{name}={{{rows}}}"


def _quoted(values: Iterable[str]) -> str:
    return ", ".join(f'"{value}"' for value in values)


def _described(one: Operation) -> str:
    text = re.sub(r"\s*Required scope: [^\n]*", "", one.description).strip()
    return f"{one.summary}.\n\n{text}" if text else f"{one.summary}."


def _doc(text: str, indent: str = "    ") -> list[str]:
    """A docstring, or the text below an attribute that editors show."""
    if not text:
        return []
    lines = text.replace("\\", "\\\\").replace('"""', "'''").strip().split("\n")
    lines[0] = f'"""{lines[0]}'
    end = ' """' if lines[-1].endswith('"') else '"""'
    lines[-1] += end
    return [f"{indent}{line}".rstrip() for line in lines]
