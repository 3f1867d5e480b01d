"""Each client in each of its ways to run, behind a driver."""

import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.clients.drivers import PYTHON, Driver, driving
from tests.clients.typescript.node_programs import Node, NotHere, install

Drive = Callable[..., AbstractAsyncContextManager[Driver]]
CLIENTS = ["python blocking", "python asyncio", "typescript"]
RUNTIMES = {"typescript deno": ["deno", "run", "--allow-all"], "typescript bun": ["bun", "run"]}


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """The TypeScript client as it is installed from its tarball."""
    try:
        return install(tmp_path_factory.mktemp("typescript"))
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=CLIENTS)
def drive(request: pytest.FixtureRequest) -> Drive:
    """`async with drive(url, key) as driver`."""
    language, _, mode = request.param.partition(" ")
    if language == "python":
        words = [*PYTHON, mode]
    elif mode and not shutil.which(mode):
        pytest.skip(f"There is no {mode} in the PATH; `npm install {mode}` brings one.")
    else:
        node = request.getfixturevalue("node")
        runtime = RUNTIMES[request.param] if mode else [str(node.node)]
        words = [*runtime, str(node.folder / "driver.mjs")]

    def start(url: str, key: str, **environment: str) -> AbstractAsyncContextManager[Driver]:
        return driving(words, url, key, environment)

    return start
