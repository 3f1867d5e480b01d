"""The Helm chart renders the same objects as the overlays, from values that its schema accepts."""

import copy
import json
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from tests.deploy.chart import (
    CHART,
    NAMESPACES,
    chart,
    chart_by_helm,
    comparable,
    differences,
    helm,
    schema_problems,
    values,
)
from tests.deploy.manifests import OVERLAYS, Manifest, named, overlay
from tests.deploy.templates import rendered

needs_helm = pytest.mark.skipif(helm() is None, reason="no helm binary can be had for this machine")
SCHEMA = jsonschema.Draft7Validator(json.loads((CHART / "values.schema.json").read_text()))


@pytest.mark.parametrize("name", OVERLAYS)
def test_chart_and_overlay_make_the_same_objects(name: str) -> None:
    """Every field of every object: users of Helm get what was tested with kustomize."""
    assert differences(chart(name), overlay(name)) == []


def test_a_difference_between_chart_and_overlay_is_found() -> None:
    """The comparison can fail: with one field changed, and with one more object."""
    made = copy.deepcopy(chart("production"))
    named(made, "Deployment")["forms"]["spec"]["revisionHistoryLimit"] = 6
    extra = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "extra"}}
    assert len(differences([*made, extra], overlay("production"))) == 2


@needs_helm
@pytest.mark.parametrize("name", OVERLAYS)
def test_helm_makes_what_our_renderer_makes(name: str) -> None:
    """Machines without helm check the same objects."""
    by_helm = chart_by_helm(name)
    assert comparable(by_helm) == comparable(chart(name))
    assert named(by_helm, "Job").keys() == named(chart(name), "Job").keys()


@needs_helm
def test_a_digest_pins_the_image_of_every_pod() -> None:
    """Empty by default; if set, it follows the tag."""
    digest = "sha256:" + "a" * 64
    made = chart_by_helm("production", "--set", f"image.digest={digest}")
    pods = [*named(made, "Deployment").values(), *named(made, "Job").values()]
    images = {pod["spec"]["template"]["spec"]["containers"][0]["image"] for pod in pods}
    assert images == {f"studio-partner-api:0.1.0@{digest}"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("image.tag", "0.1.1"),
        ("image.name", "registry.example/studio-partner-api"),
        ("image.digest", "sha256:" + "a" * 64),
        ("database.name", "studio-db-2"),
        ("database.cluster.enabled", False),
    ],
)
def test_a_migration_job_whose_pod_changes_gets_another_name(path: str, value: Any) -> None:
    """A job is immutable: under its old name the whole upgrade would be refused."""
    [job] = named(chart("production"), "Job").values()
    [changed] = named(_rendered(path, value), "Job").values()
    assert changed["spec"]["template"] != job["spec"]["template"]
    assert changed["metadata"]["name"] != job["metadata"]["name"]
    assert re.fullmatch(r"migrate-0-1-[01]-[0-9a-f]{8}", changed["metadata"]["name"])


def test_a_migration_job_whose_pod_stays_keeps_its_name() -> None:
    """Else each change of a setting would run the migrations."""
    [job] = named(chart("production"), "Job").values()
    for path, value in (("settings.STUDIO_POOL_SIZE", "11"), ("edge.host", "api.example.com")):
        [same] = named(_rendered(path, value), "Job").values()
        assert same == job


def test_no_value_but_these_changes_the_migration_jobs_pod() -> None:
    """Whatever the template reads is in the hash or in the name itself."""
    name, _, pod = (CHART / "templates" / "migrate.yaml").read_text().partition("\nspec:\n")
    read = set(re.findall(r"\.Values\.[\w.]+", pod))
    assert read <= set(re.findall(r"\.Values\.[\w.]+", name)) and ".Values.image.digest" in read


def test_the_longest_tag_still_fits_the_jobs_name() -> None:
    """63 characters: the name is a label of its pods."""
    longest = "1.0.0-" + "a" * 40
    assert SCHEMA.is_valid(_with("image.tag", longest))
    assert not SCHEMA.is_valid(_with("image.tag", longest + "a"))
    [job] = named(_rendered("image.tag", longest), "Job").values()
    assert len(job["metadata"]["name"]) == 63


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_values_keep_to_their_schema(name: str) -> None:
    """Our own values pass."""
    assert schema_problems(name) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("image.tag", "latest"),
        ("image.digest", "a1b2"),
        ("services.gatewy", {"cpu": "1"}),
        ("services.gateway.cpu", "lots"),
        ("services.gateway.maxReplicas", 1),
        ("secrets.studio-forms", {"STUDIO_CALLER_KEY": "CHANGE-ME"}),
        ("database.cluster.image", "postgres:17"),
        ("database.cluster.backup.retentionPolicy", "always"),
        ("broker.cluster.replicas", 2),
        ("database.single", {"enabled": True}),
        ("settings.STUDIO_POOL_SIZE", 10),
        ("settings.STUDIO_VALKEY_URL", "http://valkey:6379"),
        ("settings.STUDIO_VALKEY_URL", "valkey://default:secret@valkey:6379/0"),
    ],
)
def test_values_that_make_no_sense_are_refused(path: str, value: Any) -> None:
    """Before anything is applied, and by name."""
    assert not SCHEMA.is_valid(_with(path, value))


def _with(path: str, value: Any) -> Any:
    """Production's values, with another one at this path."""
    found = copy.deepcopy(values("production"))
    *way, last = path.split(".")
    place = found
    for step in way:
        place = place[step]
    place[last] = value
    return found


def _rendered(path: str, value: Any) -> list[Manifest]:
    text = rendered(CHART, NAMESPACES["production"], _with(path, value))
    return [each for each in yaml.safe_load_all(text) if each]


def test_gateways_can_be_given_a_valkey() -> None:
    """By one more setting; nothing of it is rendered by default."""
    url = "valkey://valkey.cache.svc:6379/0"
    assert SCHEMA.is_valid(_with("settings.STUDIO_VALKEY_URL", url))
    made = _rendered("settings.STUDIO_VALKEY_URL", url)
    assert named(made, "ConfigMap")["studio-settings"]["data"]["STUDIO_VALKEY_URL"] == url
    default = named(chart("production"), "ConfigMap")["studio-settings"]["data"]
    assert "STUDIO_VALKEY_URL" not in default


def test_what_the_renderer_does_not_know_is_an_error() -> None:
    """It must not silently skip part of a template."""
    with pytest.raises(KeyError):
        rendered(CHART, NAMESPACES["production"], values("production") | {"image": {}})
