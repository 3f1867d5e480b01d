"""The generated part of the TypeScript client: types, events, errors, and one method for each operation.

Enums stay open where they are received, so that a newer API does not break an older client at compile time
either; what is sent is closed, so that a typing mistake is found.
"""

import re
from collections import Counter
from collections.abc import Iterable
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
    camel,
)

FOLDER: Final = ROOT / "clients/typescript/src/generated"
HEAD: Final = (
    "// Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.\n\n"
)
_SCALARS: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
# Options of a call are given in the same object as its fields.
_OPTIONS: Final = frozenset({"idempotencyKey", "retries", "signal", "timeout"})
_INDENT: Final = "  "
_WIDTH: Final = 110


def files(document: Document) -> dict[Path, str]:
    """Every generated file with its text."""
    printer = _Printer(document)
    made = {
        "types.ts": printer.types(),
        "events.ts": printer.events(),
        "errors.ts": printer.errors(),
        "operations.ts": printer.operations(),
        "version.ts": printer.version(),
    }
    return {FOLDER / name: HEAD + text for name, text in made.items()}


class _Printer:
    def __init__(self, document: Document) -> None:
        self.document = document
        counted = Counter(code for operation in document.operations for code in operation.errors)
        # They would hide the others.
        self.common_errors = {code for code, count in counted.items() if count * 5 > len(document.operations)}
        # A replay that cannot show them raises SecretLost, so whoever gets one has them.
        self.shown_once = {one.returns: one.shown_once for one in document.operations if one.shown_once}
        self.enums = {enum.name for enum in document.enums}
        self.models = [model for model in document.models if model.name not in EVENT_MODELS]
        names = [model.name for model in self.models] + [kind.class_name for kind in document.kinds]
        names += [error.class_name for error in document.errors] + sorted(self.enums)
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"Two things would have the same name: {sorted(twice)}")

    def types(self) -> str:
        parts = [_enum(enum) for enum in self.document.enums] + [self._model(model) for model in self.models]
        imports = 'import type { Unknown } from "../unknown.js";\nimport type { Event } from "./events.js";'
        return "\n".join([imports, *parts])

    def version(self) -> str:
        return (
            "/** The version of the API that this package speaks. */\n"
            f'export const API_VERSION = "{self.document.api_version}";\n'
        )

    def errors(self) -> str:
        lines = ['import { ApiError } from "../errors.js";', ""]
        for error in self.document.errors:
            lines += _comment(f"`{error.code}`: {error.message}", "")
            # A bundler may rename the class.
            name = f'override name = "{error.class_name}";'
            lines.append(f"export class {error.class_name} extends ApiError {{ {name} }}")
        rows = [f"{_INDENT}{error.code}: {error.class_name}," for error in self.document.errors]
        lines += ["", "/** The class of each code. */", "export const ERRORS = {", *rows, "} as const;"]
        return "\n".join(lines) + "\n"

    def events(self) -> str:
        kinds = self.document.kinds
        envelope = next(model for model in self.document.models if model.name == EVENT)
        objects = sorted({name for kind in kinds for name in _named(kind.object)})
        shared = {field.type.name for field in envelope.fields if isinstance(field.type, Named)}
        imported = [*objects, *sorted(shared - EVENT_MODELS)]
        lines = ["import type {", *(f"{_INDENT}{name}," for name in imported), '} from "./types.js";', ""]
        lines += ["/** The kinds of events that this version of the package knows. */"]
        lines += [
            "export const EVENT_TYPES = [",
            *(f'{_INDENT}"{kind.name}",' for kind in kinds),
            "] as const;",
        ]
        lines += ["", "/** What every event has. */", "export interface EventEnvelope {"]
        own = ("type", "data")
        lines += [row for field in envelope.fields if field.name not in own for row in self._field(field)]
        lines += ["}", ""]
        for kind in kinds:
            lines += self._kind(kind)
        lines += [
            "/** An event of a kind that is newer than this package; `raw` is all of it, with its `type`. */",
            "export interface UnknownEvent extends EventEnvelope {",
            f'{_INDENT}type: "unknown";',
            f"{_INDENT}raw: Record<string, unknown>;",
            "}",
            "",
            "/** An event of any kind: `switch (event.type)` tells what `event.data.object` is. */",
            "export type Event =",
            *(f"{_INDENT}| {kind.class_name}" for kind in kinds),
            f"{_INDENT}| UnknownEvent;",
        ]
        return "\n".join(lines) + "\n"

    def operations(self) -> str:
        operations = self.document.operations
        used: set[str] = set()
        parts: list[str] = []
        methods: list[str] = []
        for operation in operations:
            fields = (*operation.query, *(operation.body or ()))
            for field in fields:
                used |= _named(field.type)
            used |= {
                name for name in (operation.returns, operation.item if operation.paged else None) if name
            }
            if fields:
                parts += self._params(operation, fields)
            methods += self._method(operation, fields)
        imported = sorted(used - {EVENT})
        lines = ["import type {", *(f"{_INDENT}{name}," for name in imported), '} from "./types.js";']
        lines += [
            'import type { Event } from "./events.js";',
            'import { allRows } from "../paging.js";',
            'import type { CallOptions, Operation, Transport, WriteOptions } from "../transport.js";',
            "",
            *parts,
            "const OPERATIONS = {",
            *(_described(operation) for operation in operations),
            "} as const satisfies Record<string, Operation>;",
            "",
            "/** One method for each operation of the API, named after its `operationId`. */",
            "export class Operations {",
            f"{_INDENT}readonly #transport: Transport;",
            "",
            f"{_INDENT}constructor(transport: Transport) {{",
            f"{_INDENT * 2}this.#transport = transport;",
            f"{_INDENT}}}",
            *methods,
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _model(self, model: Model) -> str:
        lines = [*_comment(model.description, ""), f"export interface {model.name} {{"]
        for field in model.fields:
            if field.name == self.shown_once.get(model.name) and isinstance(field.type, Nullable):
                field = Field(field.name, field.type.of, field.required, field.description)
            lines += self._field(field, sent_only=not model.received)
        if model.sent and model.received:
            lines += _comment("Other properties are stored and returned.", _INDENT)
            lines.append(f"{_INDENT}[property: string]: unknown;")
        return "\n".join(["", *lines, "}"])

    def _field(self, field: Field, *, sent_only: bool = False) -> list[str]:
        mark = "" if field.required else "?"
        printed = self._type(field.type, sent=sent_only)
        return [*_comment(field.description, _INDENT), f"{_INDENT}{_property(field.name)}{mark}: {printed};"]

    def _kind(self, kind: EventKind) -> list[str]:
        data = [f"{_INDENT * 2}object: {self._type(kind.object)};"]
        if kind.previous:
            text = "The fields that have changed, with their old values."
            whole = next(name for name in sorted(_named(kind.object)) if not name.endswith("Reference"))
            data += [
                *_comment(text, _INDENT * 2),
                f"{_INDENT * 2}previous?: Partial<{whole}> & Record<string, unknown>;",
            ]
        if kind.active:
            text = "Whether the list of instructors shows them."
            data += [*_comment(text, _INDENT * 2), f"{_INDENT * 2}active?: boolean;"]
        return [
            *_comment(f"{kind.description}.", ""),
            f"export interface {kind.class_name} extends EventEnvelope {{",
            f'{_INDENT}type: "{kind.name}";',
            f"{_INDENT}data: {{",
            *data,
            f"{_INDENT}}};",
            "}",
            "",
        ]

    def _params(self, operation: Operation, fields: Iterable[Field]) -> list[str]:
        lines = [f"export interface {_params_name(operation)} extends {_options(operation)} {{"]
        for field in fields:
            if field.name in _OPTIONS:
                raise ValueError(f"{operation.id}: {field.name} is an option of every call.")
            lines += self._field(field, sent_only=True)
        return [*lines, "}", ""]

    def _method(self, operation: Operation, fields: tuple[Field, ...]) -> list[str]:
        name = _method_name(operation.id)
        ids = [_method_name(field.name) for field in operation.path_fields]
        returns = operation.returns or "void"
        required = any(field.required for field in fields)
        if fields:
            given = f"params: {_params_name(operation)}" + ("" if required else " = {}")
        else:
            given = f"params: {_options(operation)} = {{}}"
        accepted = ", ".join([*(f"{one}: string" for one in ids), given])
        sent = f"OPERATIONS.{name}, [{', '.join(ids)}], params"
        text = self._text(operation)
        lines = ["", *_comment(text, _INDENT), f"{_INDENT}{name}({accepted}): Promise<{returns}> {{"]
        lines += [f"{_INDENT * 2}return this.#transport.send({sent});", f"{_INDENT}}}"]
        if operation.paged and operation.item:
            pages = f"{name}({', '.join([*ids, '{ ...params, ...page }'])})"
            comment = f"Every row of `{name}`, page by page as you loop."
            lines += ["", *_comment(comment, _INDENT)]
            rows = f"AsyncGenerator<{operation.item}, void, void>"
            lines.append(f"{_INDENT}{_iter_name(name)}({accepted}): {rows} {{")
            lines.append(f"{_INDENT * 2}return allRows((page) => this.{pages}, params);")
            lines.append(f"{_INDENT}}}")
        return lines

    def _text(self, operation: Operation) -> str:
        parts = [operation.summary.rstrip(".") + ".", operation.description]
        if own := [code for code in operation.errors if code not in self.common_errors]:
            parts.append("Refused with " + ", ".join(f"`{code}`" for code in own) + ".")
        return "\n\n".join(part for part in parts if part)

    def _type(self, kind: Type, *, sent: bool = False) -> str:
        match kind:
            case Scalar("string", "date-time") if sent:
                return "string | Date"
            case Scalar(name):
                return _SCALARS.get(name, "unknown")
            case Named(name) if name in self.enums and not sent:
                return f"{name} | Unknown"
            case Named(name):
                return name
            case Nullable(of):
                return f"{self._type(of, sent=sent)} | null"
            case ListOf(of):
                inner = self._type(of, sent=sent)
                return ("readonly " if sent else "") + (f"({inner})[]" if " | " in inner else f"{inner}[]")
            case MapOf(of):
                return f"Record<string, {self._type(of, sent=sent)}>"
            case AnyOf(options):
                return " | ".join(dict.fromkeys(self._type(one, sent=sent) for one in options))
            case Literals(values):
                return " | ".join(f'"{value}"' for value in values)


def _enum(enum: Enum) -> str:
    values = [f'"{value}"' for value in enum.values]
    printed = f"export type {enum.name} = {' | '.join(values)};"
    if len(printed) > _WIDTH:
        printed = (
            "\n".join([f"export type {enum.name} =", *(f"{_INDENT}| {value}" for value in values)]) + ";"
        )
    return "\n".join(["", *_comment(enum.description, ""), printed])


def _described(operation: Operation) -> str:
    path = re.sub(r"\{[^}]*\}", "{}", operation.path)
    query = ", ".join(f'"{field.name}"' for field in operation.query)
    parts = [f'method: "{operation.method}"', f'path: "{path}"', f"query: [{query}]"]
    if operation.body is not None:
        parts.append("hasBody: true")
    if operation.writes:
        parts.append("takesKey: true")
    if operation.shown_once:
        parts.append(f'secret: "{operation.shown_once}"')
    if EVENT in (operation.returns, operation.item):
        parts.append("events: true")
    return f"{_INDENT}{_method_name(operation.id)}: {{ {', '.join(parts)} }},"


def _named(kind: Type) -> set[str]:
    match kind:
        case Named(name):
            return {name}
        case Nullable(of) | ListOf(of) | MapOf(of):
            return _named(of)
        case AnyOf(options):
            return {name for one in options for name in _named(one)}
    return set()


def _method_name(words: str) -> str:
    name = camel(words)
    return name[:1].lower() + name[1:]


def _iter_name(list_name: str) -> str:
    return f"iter{list_name.removeprefix('list')}"


def _params_name(operation: Operation) -> str:
    return f"{camel(operation.id)}Params"


def _options(operation: Operation) -> str:
    return "WriteOptions" if operation.writes else "CallOptions"


def _property(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else f'"{name}"'


def _comment(text: str, indent: str) -> list[str]:
    lines = text.replace("*/", "* /").splitlines()
    if not lines:
        return []
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]
