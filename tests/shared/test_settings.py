"""Settings are read from the environment once; an invalid value is refused in one sentence."""

from pathlib import Path

import pytest

from shared.settings import SECRETS, SERVICE, SERVICES, SettingsProblem, read_settings, settings_read
from tests.deploy.chart import KUBERNETES, read

EXAMPLE = {
    name: value
    for secret in read(KUBERNETES / "secrets.example.yaml")
    for name, value in secret["stringData"].items()
    if name.startswith("STUDIO_")
}
PLACEHOLDERS = [("STUDIO_CALLER_KEY", value) for value in ("changeme", "CHANGE_ME", "real,change-me")]


@pytest.mark.parametrize(("name", "value"), [*EXAMPLE.items(), *PLACEHOLDERS])
def test_a_placeholder_is_refused_however_it_is_written(tmp_path: Path, name: str, value: str) -> None:
    """As in the public example, in a file, and as the second of two values, which would still be accepted.

    The message has the name of the setting only.
    """
    file = tmp_path / "key"
    file.write_text(f"{value}\n")
    for given in ({name: value}, {f"{name}_FILE": str(file)}):
        with pytest.raises(SettingsProblem, match=f"^{name}(_FILE)? still holds a placeholder") as refused:
            read_settings(given)
        assert "real" not in str(refused.value)


def test_every_setting_is_read_as_its_type_says() -> None:
    """Lists are separated by commas, and a setting of each service has a variable for each."""
    settings = read_settings(
        {
            "STUDIO_HOME": "/srv/studio",
            "STUDIO_PORT": "9000",
            "STUDIO_WEBHOOK_ALLOW_HTTP": "true",
            "STUDIO_TRACE_RATIO": "0.5",
            "STUDIO_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.1",
            "STUDIO_WEBHOOK_ALLOW_HOSTS": "hooks.internal",
            "STUDIO_WEBHOOK_RETRY_SCHEDULE": "1,2.5",
            "STUDIO_FORMS_URL": "http://forms:8080",
            "STUDIO_CALLER_KEY_FORMS": "new,old",
            **dict.fromkeys(SECRETS.values(), "0f1e2d3c"),
        }
    )
    assert all(getattr(settings, name) == ("0f1e2d3c",) for name in SECRETS)
    assert (settings.home, settings.port, settings.webhook_allow_http) == (Path("/srv/studio"), 9000, True)
    assert settings.trace_ratio == 0.5
    assert settings.trusted_proxies == ("10.0.0.0/8", "192.0.2.1")
    assert settings.webhook_allow_hosts == {"hooks.internal"}
    assert settings.webhook_retry_schedule == (1.0, 2.5)
    assert settings.service_urls == {"forms": "http://forms:8080"}
    assert settings.service_caller_keys == {"forms": ("new", "old")}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STUDIO_PORT", "http"),
        ("STUDIO_FORWARDED_HEADER", "x-real-ip"),
        ("STUDIO_TRUSTED_PROXIES", "10.0.0.0/8,proxy"),
        ("STUDIO_WEBHOOK_RETRY_SCHEDULE", "1,soon"),
    ],
)
def test_a_value_that_is_not_usable_is_refused_by_name(name: str, value: str) -> None:
    """An operator has to find the setting that is wrong."""
    with pytest.raises(SettingsProblem, match=f"^{name} is set to"):
        read_settings({name: value})


def test_what_the_deployment_sets_is_a_setting() -> None:
    """Unknown names are ignored when they are read, so a misspelt one would have no effect."""
    known = {one.variable.replace(SERVICE, name.upper()) for one in settings_read() for name in SERVICES}
    given = set(EXAMPLE) | set(read(KUBERNETES.parent / "helm" / "values.yaml")[0]["settings"])
    assert given <= known
