"""Runs the reference's samples as printed, all of one language in one process, and returns the statuses."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.clients.drivers import with_source
from tests.clients.typescript.node_programs import find_node, install

LIMIT_SECONDS = 120

# Each script reads samples.json, {name: source}, and writes statuses.json, {name: status or problem}.
PYTHON = """
import json, pathlib
from studio_partner import _http
statuses, seen, send = {}, [], _http.BlockingClient._send
def seeing(client, request):
    seen.append(send(client, request))
    return seen[-1]
_http.BlockingClient._send = seeing
for name, source in json.loads(pathlib.Path("samples.json").read_text()).items():
    names = {}
    try:
        exec(compile(source, name, "exec"), names)
        statuses[name] = (names.get("response") or seen[-1]).status
    except Exception as problem:
        said = problem.read().decode() if hasattr(problem, "read") else ""
        statuses[name] = f"{problem!r} {said}"
pathlib.Path("statuses.json").write_text(json.dumps(statuses))
"""
JAVASCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
const statuses = {}, fetched = globalThis.fetch;
let seen;
globalThis.fetch = async (...request) => { seen = await fetched(...request); return seen; };
for (const [name, source] of Object.entries(JSON.parse(readFileSync("samples.json", "utf8")))) {
  seen = undefined;
  writeFileSync(`${name}.mjs`, source);
  try {
    await import(`./${name}.mjs`);
    statuses[name] = seen.status;
  } catch (problem) {
    statuses[name] = `${seen?.status} ${problem}`;
  }
}
writeFileSync("statuses.json", JSON.stringify(statuses));
"""


def run_curl(samples: Mapping[str, str], folder: Path, environment: Mapping[str, str]) -> dict[str, object]:
    """`.curlrc` saves the responses' headers separately from what the samples print."""
    script = ["export CURL_HOME=."]
    for name, source in samples.items():
        script += [f"echo 'dump-header = \"{name}.head\"' > .curlrc", f"{{ {source}\n}} > {name}.body"]
    _run([shutil.which("bash") or "bash", "-c", "\n".join(script)], folder, environment)
    statuses: dict[str, object] = {}
    for name in samples:
        head = (folder / f"{name}.head").read_text() if (folder / f"{name}.head").exists() else ""
        said = (folder / f"{name}.body").read_text()
        status = int(head.split()[1]) if head else 0
        statuses[name] = status if 200 <= status < 300 else f"{status} {said}"
    return statuses


def run_python(samples: Mapping[str, str], folder: Path, environment: Mapping[str, str]) -> dict[str, object]:
    """Samples that use the client find it in this checkout."""
    source = {"PYTHONPATH": with_source()["PYTHONPATH"]}
    return _run_script([sys.executable, "-c", PYTHON], samples, folder, source | dict(environment))


def run_javascript(
    samples: Mapping[str, str], folder: Path, environment: Mapping[str, str]
) -> dict[str, object]:
    """Samples that use the client find it installed from its tarball."""
    if any("studio-partner" in source for source in samples.values()):
        folder = install(folder).folder
    (folder / "run.mjs").write_text(JAVASCRIPT)
    return _run_script([str(find_node()), "run.mjs"], samples, folder, environment)


def _run_script(
    words: list[str], samples: Mapping[str, str], folder: Path, environment: Mapping[str, str]
) -> dict[str, object]:
    (folder / "samples.json").write_text(json.dumps(samples))
    _run(words, folder, environment)
    statuses: dict[str, object] = json.loads((folder / "statuses.json").read_text())
    return statuses


def _run(words: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    subprocess.run(
        words,
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
