"""The files of the reference and the consoles, each with the modules that both ports share."""

from importlib.resources.abc import Traversable
from typing import Final

from services.gateway.routes.static_files import STATIC, static_file
from shared.http.asgi import ASGIApp

TYPES: Final = {
    "js": b"text/javascript; charset=utf-8",
    "css": b"text/css; charset=utf-8",
}


def page_files(folder: str, page: str, **values: str) -> dict[str, ASGIApp]:
    """Each file by its path. Only files that exist at start are ever served. `values` are for the page."""
    files = {
        f"/{name}": static_file(name, TYPES[name.rpartition(".")[2]])
        for name in _names(STATIC / folder, folder)
    }
    return {f"/{folder}": static_file(f"{folder}/{page}", b"text/html; charset=utf-8", **values), **files}


def _names(folder: Traversable, below: str) -> list[str]:
    found: list[str] = []
    for item in folder.iterdir():
        name = f"{below}/{item.name}"
        if item.is_dir():
            found += _names(item, name)
        elif item.name.rpartition(".")[2] in TYPES:
            found.append(name)
    return sorted(found)
