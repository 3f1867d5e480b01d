"""Node 22, and a folder where the client is installed from its tarball, as a partner has it."""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.harness.npm_packages import LockedNpmPackages
from tests.harness.process import ROOT

HERE = Path(__file__).parent
PACKAGE = ROOT / "clients/typescript"
OLDEST_NODE = 22
TOOLS = LockedNpmPackages("studio-partner-typescript", PACKAGE)
NODE = LockedNpmPackages("node-22", HERE / "node")
ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}
SECONDS = 100


class NotHere(Exception):
    """Why no program can be run."""


def run(
    *words: str | Path, folder: Path, environment: Mapping[str, str] | None = None, given: str = ""
) -> str:
    done = subprocess.run(
        words,
        input=given,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def find_node() -> Path:
    """The machine's, or one from npm if that is too old."""
    if found := shutil.which("node"):
        version = run(found, "--version", folder=HERE).strip().removeprefix("v")
        if int(version.partition(".")[0]) >= OLDEST_NODE:
            return Path(found)
    if reason := NODE.why_not():
        raise NotHere(f"Node {OLDEST_NODE} is not here, and cannot be fetched: {reason}")
    node = NODE.script(f"node-linux-{ARCHITECTURES.get(platform.machine(), '')}/bin/node")
    if not node.exists():
        raise NotHere(f"npm has no Node {OLDEST_NODE} for this machine")
    return node


class Node(Struct):
    """A folder in which `import … from "studio-partner"` works, and the built sources that it comes from."""

    node: Path
    folder: Path
    source: Path

    def result(self, program: str, *arguments: Path, given: Any = None) -> Any:
        """JSON in, JSON out: the last line that the program prints."""
        words = [self.node, self.folder / program, *arguments]
        return json.loads(run(*words, folder=self.folder, given=json.dumps(given)).splitlines()[-1])

    def start(self, program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.node, self.folder / program, *arguments],
            cwd=self.folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


def install(folder: Path) -> Node:
    """Builds the tarball from the sources and installs it, with nothing but npm and the compiler."""
    if reason := TOOLS.why_not():
        raise NotHere(f"The TypeScript compiler cannot be fetched: {reason}")
    node = find_node()
    source, place = folder / "source", folder / "partner"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("node_modules", "dist"))
    run(node, TOOLS.script("typescript/bin/tsc"), "-p", source, folder=source)
    packed = run("npm", "pack", "--ignore-scripts", "--silent", folder=source).strip()
    place.mkdir()
    (place / "package.json").write_text('{"private": true, "type": "module"}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", source / packed, folder=place)
    for program in (*HERE.glob("*.mjs"), *HERE.glob("*.ts")):
        shutil.copy(program, place)
    return Node(node, place, source)
