"""The TypeScript package as it is: its own tests, its types, and that it holds nothing else."""

import json

import pytest

from clients.generate.document import read_document
from tests.clients.typescript.node_programs import PACKAGE, TOOLS, Node, run
from tests.harness.process import ROOT
from tests.harness.system import System

STRICT = (
    *("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noEmit", "--skipLibCheck"),
    *("--target", "es2022", "--lib", "es2022,dom,dom.iterable", "types.ts"),
)


def test_its_own_tests_pass(node: Node) -> None:
    """Retries under one key, errors by code, the cache, paging and following, against a scripted server."""
    said = run(node.node, "--test", "--test-reporter=tap", "test/*.test.mjs", folder=node.source)
    assert "# fail 0" in said
    assert "# pass 0" not in said


@pytest.mark.parametrize("modules", [("nodenext", "nodenext"), ("esnext", "bundler"), ("commonjs", "node10")])
def test_a_strict_compiler_knows_every_call_and_event(node: Node, modules: tuple[str, str]) -> None:
    """What is right compiles, and each `@ts-expect-error` is one, however the program finds its modules."""
    tsc = TOOLS.script("typescript/bin/tsc")
    run(node.node, tsc, *STRICT, "--module", modules[0], "--moduleResolution", modules[1], folder=node.folder)


def test_it_has_no_dependency_and_holds_only_what_is_run(node: Node) -> None:
    installed = node.folder / "node_modules"
    assert [one.name for one in installed.iterdir() if not one.name.startswith(".")] == ["studio-partner"]
    files = {one.suffix for one in (installed / "studio-partner").rglob("*") if one.is_file()}
    assert files == {".js", ".ts", ".json", ".md", ""}
    assert "dependencies" not in json.loads((PACKAGE / "package.json").read_text())


def test_its_lock_names_hashes_and_no_registry() -> None:
    for folder in (PACKAGE, ROOT / "tests/clients/typescript/node"):
        lock = folder / "package-lock.json"
        packages = json.loads(lock.read_text())["packages"]
        assert all("integrity" in one for path, one in packages.items() if path), lock
        assert "resolved" not in lock.read_text(), lock


async def test_it_says_its_versions_and_knows_every_kind_of_event(node: Node, system: System) -> None:
    """The union of events is that of `GET /event-types`."""
    (node.folder / "versions.mjs").write_text(
        'import { API_VERSION, EVENT_TYPES, VERSION } from "studio-partner";\n'
        "console.log(JSON.stringify({ API_VERSION, EVENT_TYPES, VERSION }));\n"
    )
    said = node.result("versions.mjs")
    assert said["API_VERSION"] == read_document().api_version
    assert said["VERSION"] == json.loads((PACKAGE / "package.json").read_text())["version"]
    served = (await system.partner(await system.key()).get("/event-types")).json()
    assert sorted(said["EVENT_TYPES"]) == sorted(one["name"] for one in served["data"])
