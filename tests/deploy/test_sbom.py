"""The bill of materials names exactly what the lock pins, and is the same each time."""

import re
from pathlib import Path

from deploy.sbom import bill_of_materials

LOCK = (Path(__file__).parents[2] / "deploy" / "requirements.lock").read_text()


def test_every_pinned_package_is_in_it_with_its_hashes() -> None:
    """Nothing is missing and nothing is added."""
    document = bill_of_materials(LOCK, "1.0.0")
    pinned = re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", LOCK, re.MULTILINE | re.IGNORECASE)
    parts = document["components"]
    assert [(part["name"], part["version"]) for part in parts] == pinned
    assert len(pinned) > 20
    assert sum(len(part["hashes"]) for part in parts) == LOCK.count("--hash=sha256:")
    assert all(part["hashes"] for part in parts)
    assert document["dependencies"][0]["dependsOn"] == [part["bom-ref"] for part in parts]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")


def test_it_can_be_compared() -> None:
    """The same lock gives the same document; another one gives another serial number."""
    assert bill_of_materials(LOCK, "1.0.0") == bill_of_materials(LOCK, "1.0.0")
    other = bill_of_materials(LOCK + "\n", "1.0.0")
    assert other["serialNumber"] != bill_of_materials(LOCK, "1.0.0")["serialNumber"]
