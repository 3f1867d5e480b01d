"""The benchmarks run seldom, so a placeholder without a value would be found late."""

import pytest

from bench.nginx import BACKEND, GATEWAY, configuration


@pytest.mark.parametrize("server", [BACKEND, GATEWAY])
def test_a_configuration_has_a_value_for_each_placeholder(server: str) -> None:
    text = configuration(server, home="/home", port=8000, backend=9000)
    assert text.count("{") == text.count("}")
    assert "127.0.0.1:8000" in text
