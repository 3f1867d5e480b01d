"""`make sbom`: a CycloneDX bill of materials of what the image installs, from the lock file alone.

It needs no network and no installed packages: names, versions and hashes are in the lock. Give it to a
scanner with a vulnerability database. `pip-audit` is not run here: its data is only available online.
"""

import argparse
import hashlib
import json
import re
import tomllib
import uuid
from pathlib import Path
from typing import Any

PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components_of(lock: str) -> list[dict[str, Any]]:
    """One per pinned package, with the hashes of every file that may be installed for it."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if pinned := PINNED.match(line):
            name, version = pinned[1].lower().replace("_", "-"), pinned[2]
            found.append(
                {
                    "type": "library",
                    "bom-ref": f"pkg:pypi/{name}@{version}",
                    "name": name,
                    "version": version,
                    "purl": f"pkg:pypi/{name}@{version}",
                    "hashes": [],
                }
            )
        if found:
            found[-1]["hashes"] += [{"alg": "SHA-256", "content": digest} for digest in HASH.findall(line)]
    return found


def bill_of_materials(lock: str, version: str) -> dict[str, Any]:
    """The same lock gives the same document, so that it can be compared and signed."""
    digest = hashlib.sha256(lock.encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{version} {digest}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "studio-partner-api",
                "name": "studio-partner-api",
                "version": version,
            }
        },
        "components": components_of(lock),
        "dependencies": [
            {"ref": "studio-partner-api", "dependsOn": [part["bom-ref"] for part in components_of(lock)]}
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", default="deploy/requirements.lock")
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    version = tomllib.loads(Path("pyproject.toml").read_text())["project"]["version"]
    document = bill_of_materials(Path(given.lock).read_text(), version)
    Path(given.output).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
