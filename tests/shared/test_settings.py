"""Settings are read from the environment once; an invalid value is refused in one sentence."""

from pathlib import Path

import pytest

from shared.settings import SECRETS, SettingsProblem, read_settings
from tests.deploy.chart import KUBERNETES, read

EXAMPLE = {
    name: value
    for secret in read(KUBERNETES / "secrets.example.yaml")
    for name, value in secret["stringData"].items()
    if name.startswith("STUDIO_")
}


@pytest.mark.parametrize("name", EXAMPLE)
def test_an_example_that_was_applied_as_it_is_is_refused(name: str) -> None:
    """It is in a public file; the message has the name of the setting only."""
    with pytest.raises(SettingsProblem, match=f"^{name} still holds a placeholder"):
        read_settings({name: EXAMPLE[name]})


@pytest.mark.parametrize("value", ["changeme", "CHANGE_ME", "real,change-me"])
def test_a_placeholder_is_refused_however_it_is_written(value: str) -> None:
    """Also as the second of several values, which would still be accepted."""
    with pytest.raises(SettingsProblem) as refused:
        read_settings({"STUDIO_CALLER_KEY": value})
    assert "real" not in str(refused.value)


def test_a_placeholder_in_a_file_is_refused_too(tmp_path: Path) -> None:
    """Secrets of containers come as files."""
    file = tmp_path / "key"
    file.write_text("CHANGE-ME\n")
    with pytest.raises(SettingsProblem, match="STUDIO_CALLER_KEY"):
        read_settings({"STUDIO_CALLER_KEY_FILE": str(file)})


def test_real_values_pass() -> None:
    """Of every secret there is."""
    settings = read_settings(dict.fromkeys(SECRETS.values(), "0f1e2d3c"))
    assert all(getattr(settings, name) == ("0f1e2d3c",) for name in SECRETS)
