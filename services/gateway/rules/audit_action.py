"""The action and the target of a write in the audit log, from the route that was found and its parameters."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from shared.routing import OF_A_STUDIO, OperatorRoute

CREATE: Final = "create"
SUFFIXES: Final = {"PUT": "update", "PATCH": "update", "DELETE": "delete"}
# The target of a write that has none in its path, until the answer names one.
NEW: Final = "new"
ALL: Final = "all"
MAX_LENGTH: Final = 200


def action_of(route: OperatorRoute) -> str:
    """`POST /studios/{studio}/classes/{class_id}/cancel` is `classes.cancel`."""
    words = [word for word in route.path.removeprefix(OF_A_STUDIO).split("/") if word and word[0] != "{"]
    if route.method in SUFFIXES:
        words.append(SUFFIXES[route.method])
    elif words[-1].endswith("s"):
        # A plural names a collection, in which something is created.
        words.append(CREATE)
    return ".".join(words)


def target_of(route: OperatorRoute, parameters: Mapping[str, str], query: bytes, own_studio: str) -> str:
    """The last parameter of the path; otherwise the studio in the query, or that of the staff token."""
    named = parameters.get(route.path.rpartition("{")[2].partition("}")[0])
    target = named or dict(parse_qsl(query.decode("latin-1"))).get("studio") or own_studio
    printable = "".join(letter for letter in target if letter.isprintable())
    return printable[:MAX_LENGTH] or (NEW if action_of(route).endswith(CREATE) else ALL)
