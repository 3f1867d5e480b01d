"""The action and the target of a write in the audit log."""

from typing import Final
from urllib.parse import parse_qsl

PREFIX: Final = "/operator/v1/"
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
# POST routes that change nothing.
EVALUATIONS: Final = frozenset({"evaluate"})
# Verbs in the position where other paths have an id.
VERBS: Final = frozenset({"advance", "requeue"})
SUFFIXES: Final = {"PUT": "update", "PATCH": "update", "DELETE": "delete"}
MAX_LENGTH: Final = 200


def is_write(method: str, path: str) -> bool:
    return method not in READING and path.startswith(PREFIX) and path.rpartition("/")[2] not in EVALUATIONS


def action_and_target(method: str, path: str, query: bytes = b"") -> tuple[str, str]:
    """`POST …/studios/mine/classes/ID/cancel` is `classes.cancel` of ID; an import is of its studio."""
    parts = path.removeprefix(PREFIX).strip("/").split("/")
    target = dict(parse_qsl(query.decode("latin-1"))).get("studio", "") if query else ""
    if parts[0] == "studios" and len(parts) > 2:
        target, parts = parts[1], parts[2:]
    words = [part for at, part in enumerate(parts) if at % 2 == 0 or part in VERBS]
    ids = [part for at, part in enumerate(parts) if at % 2 == 1 and part not in VERBS]
    if method in SUFFIXES:
        words.append(SUFFIXES[method])
    elif words[-1].endswith("s"):
        # A plural names a collection, in which something is created.
        words.append("create")
    return _plain(".".join(words)), _plain(ids[-1] if ids else target)


def _plain(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isprintable())[:MAX_LENGTH]
