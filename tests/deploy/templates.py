"""What `helm template` does, as far as our chart needs it: every machine checks what the chart renders.

It supports `.Values`, `.Release.Namespace`, `.Files.Get`, variables, `if`/`else if`/`else`, `range` over a
map, and the functions below. Anything else is an error. Where there is a helm binary, a test compares both.
"""

import math
import re
import shlex
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

Scope = dict[str, Any]
Node = str | tuple[str, Any]
_TAG = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)


def _to_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, default_flow_style=False, width=10_000)).removesuffix("\n")


def _indent(spaces: int, text: str) -> str:
    return "\n".join(" " * spaces + line for line in text.split("\n"))


# The value that is piped in comes last, as in Go.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "toYaml": _to_yaml,
    "indent": _indent,
    "nindent": lambda spaces, text: "\n" + _indent(spaces, text),
    "quote": lambda value: '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"',
    "replace": lambda old, new, text: text.replace(old, new),
    "cat": lambda *words: " ".join(_shown(word) for word in words),
    "sha256sum": lambda text: sha256(text.encode()).hexdigest(),
    "trunc": lambda length, text: text[:length],
    "mul": lambda *numbers: math.prod(numbers),
    "eq": lambda one, other: one == other,
    "ne": lambda one, other: one != other,
    "not": lambda value: not value,
    "and": lambda one, other: one and other,
}


def rendered(chart: Path, namespace: str, values: Any) -> str:
    scope = {
        "Values": values,
        "Release": {"Namespace": namespace},
        "Files": {"Get": lambda name: (chart / name).read_text()},
    }
    parts = [_text(path.read_text(), scope) for path in sorted((chart / "templates").glob("*.yaml"))]
    return "\n---\n".join(parts)


def _text(source: str, scope: Scope) -> str:
    tokens = list(_tokens(source))
    tree = _block(tokens)
    assert not tokens, f"too many ends: {tokens[:1]}"
    return "".join(_write(tree, {"$": scope, ".": scope}))


def _tokens(source: str) -> Iterator[Node]:
    """Text and actions in turn; a hyphen takes away the white space on its side."""
    end, trim = 0, False
    for found in _TAG.finditer(source):
        text = source[end : found.start()]
        text = text.lstrip() if trim else text
        yield text.rstrip() if found[1] else text
        yield ("action", found[2])
        end, trim = found.end(), bool(found[3])
    yield source[end:].lstrip() if trim else source[end:]


def _block(tokens: list[Node]) -> list[Node]:
    """Up to the `end` or `else` that is not ours, which is left in front."""
    found: list[Node] = []
    while tokens:
        token = tokens[0]
        if isinstance(token, tuple) and token[1].split()[0] in ("end", "else"):
            break
        tokens.pop(0)
        if isinstance(token, tuple) and token[1].split()[0] in ("if", "range"):
            word, _, rest = token[1].partition(" ")
            found.append((word, (rest, *_branches(tokens))))
        else:
            found.append(token)
    return found


def _branches(tokens: list[Node]) -> tuple[list[Node], list[Node]]:
    inside = _block(tokens)
    word = tokens.pop(0)[1]
    if word == "end":
        return inside, []
    if word == "else":
        otherwise = _block(tokens)
        assert tokens.pop(0)[1] == "end"
        return inside, otherwise
    condition = word.removeprefix("else if ")
    return inside, [("if", (condition, *_branches(tokens)))]


def _write(tree: list[Node], names: Scope) -> Iterator[str]:
    for node in tree:
        if isinstance(node, str):
            yield node
        elif node[0] == "action":
            yield _shown(_value(node[1], names))
        elif node[0] == "if":
            condition, inside, otherwise = node[1]
            yield from _write(inside if _value(condition, names) else otherwise, names)
        else:
            (head, inside, _) = node[1]
            variables, _, source = head.partition(":=")
            key, value = (name.strip() for name in variables.split(","))
            for name, item in sorted((_value(source, names) or {}).items()):
                yield from _write(inside, names | {key: name, value: item})


def _shown(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _value(pipeline: str, names: Scope) -> Any:
    result: list[Any] = []
    for stage in pipeline.split("|"):
        word, *given = shlex.split(stage, posix=False)
        arguments = [_operand(each, names) for each in given] + result
        if word in FUNCTIONS:
            result = [FUNCTIONS[word](*arguments)]
        else:
            found = _operand(word, names)
            result = [found(*arguments) if callable(found) else found]
    return result[0]


def _operand(word: str, names: Scope) -> Any:
    if word[0] == '"':
        return word[1:-1]
    if word.isdigit():
        return int(word)
    name, *path = word.split(".")
    found = names[name or "."]
    for step in path:
        found = found[step]
    return found
