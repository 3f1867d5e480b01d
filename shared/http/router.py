"""Path → handler: Litestar's router, with a dict in front of it for paths without parameters."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from litestar import Litestar, asgi
from litestar.types import ASGIApp, Receive, Scope, Send

_PARAMETER = re.compile(r"\{(\w+)\}")


def by_path(handlers: Mapping[str, ASGIApp], on_error: Callable[[Any, Exception], Any]) -> ASGIApp:
    """`on_error` answers for Litestar's own refusals; each handler answers for its own."""
    app = Litestar(
        [
            asgi(_PARAMETER.sub(r"{\1:str}", path), copy_scope=False)(_untyped(handler))
            for path, handler in handlers.items()
        ],
        openapi_config=None,
        # Litestar's logging setup would bypass ours for messages of libraries.
        logging_config=None,
        exception_handlers={Exception: on_error},
    )
    _let_asgi_paths_have_parameters(app.asgi_router.root_route_map_node)
    return ExactPaths({path: handler for path, handler in handlers.items() if "{" not in path}, app)


def _untyped(handler: ASGIApp) -> ASGIApp:
    """Litestar resolves the types of each handler. The scope's are large: that was half of its start."""

    async def call(scope: Any, receive: Any, send: Any) -> None:
        await handler(scope, receive, send)

    return call


class ExactPaths:
    """Most traffic goes to such paths. A dict finds them in a quarter of the time of Litestar's router."""

    def __init__(self, exact: Mapping[str, ASGIApp], others: ASGIApp) -> None:
        self._exact = exact
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = self._exact.get(scope["path"])
        if handler is None:
            await self._others(scope, receive, send)
        else:
            scope["path_params"] = {}
            await handler(scope, receive, send)


class _ForEveryMethod(dict[str, Any]):
    def __missing__(self, method: str) -> Any:
        return self["asgi"]


def _let_asgi_paths_have_parameters(node: Any) -> None:
    """Litestar 2.25 keeps an `asgi` handler's path parameters under "asgi" and looks them up by method."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.is_asgi:
            node.path_parameters = _ForEveryMethod(node.path_parameters)
        stack.extend(node.children.values())
