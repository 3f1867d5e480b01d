import pytest

from tests.clients.typescript.node_programs import Node, NotHere, install


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """The client as it is installed from its tarball."""
    try:
        return install(tmp_path_factory.mktemp("typescript"))
    except NotHere as reason:
        pytest.skip(str(reason))
