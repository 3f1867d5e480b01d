"""Strict checks of custom resources: by their own schemas where npm is available, by our list everywhere."""

import pytest

from tests.deploy import crds
from tests.deploy.custom_resource_fields import FIELDS, OPERATOR_API_GROUPS, unknown_fields
from tests.deploy.manifests import Manifest, overlay

needs_schemas = pytest.mark.skipif(
    crds.why_not() is not None, reason=f"the operators' schemas cannot be had: {crds.why_not()}"
)
PRODUCTION = [each for each in overlay("production") if each["apiVersion"].startswith(OPERATOR_API_GROUPS)]
WITHOUT_SCHEMA = {
    "barmancloud.cnpg.io/v1 ObjectStore",
    "rabbitmq.com/v1beta1 RabbitmqCluster",
    "rabbitmq.com/v1beta1 User",
    "rabbitmq.com/v1beta1 Permission",
}


def _kind(manifest: Manifest) -> str:
    return f"{manifest['apiVersion']} {manifest['kind']}"


def _misspelt(manifest: Manifest) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], "misspelt": 1}}


@needs_schemas
@pytest.mark.timeout(180)
def test_every_kind_is_valid_by_the_operators_schemas_and_a_misspelt_field_is_not() -> None:
    """The API server silently drops an unknown field, and a backup would never be taken."""
    assert crds.problems(PRODUCTION) == []
    known = [each for each in PRODUCTION if crds.has_schema(each)]
    found = crds.problems([_misspelt(each) for each in known])
    for manifest in known:
        name = f"{manifest['kind']}/{manifest['metadata']['name']}:"
        assert any(problem.startswith(name) and "misspelt" in problem for problem in found), name


def test_only_the_brokers_and_the_backup_plugins_kinds_have_no_schema() -> None:
    """Those that no npm package describes; every other one is checked by its own."""
    assert {_kind(each) for each in PRODUCTION if not crds.has_schema(each)} == WITHOUT_SCHEMA


@pytest.mark.parametrize(
    "manifest", PRODUCTION, ids=lambda each: f"{each['kind']}/{each['metadata']['name']}"
)
def test_our_list_knows_every_field_and_no_misspelt_one(manifest: Manifest) -> None:
    """It is the only check on machines without npm."""
    assert _kind(manifest) in FIELDS
    assert unknown_fields(manifest) == []
    assert unknown_fields(_misspelt(manifest)) == ["spec.misspelt"]
