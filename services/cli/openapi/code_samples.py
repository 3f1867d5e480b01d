"""`x-codeSamples`: each operation in curl, Python and JavaScript, built from the examples in the document.

The key is read from the environment variable STUDIO_KEY, so that nobody pastes one into a file. The reference
page puts its own origin in the place of `ORIGIN`.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from shared.routing import PREFIX

Json = dict[str, Any]

ORIGIN: Final = "http://127.0.0.1:8080"
_PYTHON_WORDS: Final = {None: "None", True: "True", False: "False"}


class Sample(Struct, frozen=True):
    """What a request sends. `headers` are those besides the key; the body's are added by each language."""

    method: str
    url: str
    headers: dict[str, str]
    body: Any = None
    answers_json: bool = True


def code_samples(method: str, path: str, operation: Json, shared_parameters: Json) -> list[Json]:
    sample = _sample(method, path, operation, shared_parameters)
    return [
        {"lang": "Shell", "label": "curl", "source": curl(sample)},
        {"lang": "Python", "label": "Python", "source": python(sample)},
        {"lang": "JavaScript", "label": "JavaScript", "source": javascript(sample)},
    ]


def _sample(method: str, path: str, operation: Json, shared_parameters: Json) -> Sample:
    parameters = [_resolved(one, shared_parameters) for one in operation["parameters"]]
    for one in parameters:
        if one["in"] == "path":
            path = path.replace("{" + one["name"] + "}", one["example"])
    if any(one["in"] == "query" and one["name"] == "limit" for one in parameters):
        path += "?limit=10"
    headers = {}
    if any(one["name"] == "Idempotency-Key" for one in parameters):
        # One for each operation. It is fixed, so that a sample which is run twice is answered the same.
        headers["Idempotency-Key"] = operation["operationId"].replace("_", "-") + "-0001"
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    good = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    return Sample(method, f"{ORIGIN}{PREFIX}{path}", headers, content.get("example"), "content" in good)


def _resolved(parameter: Json, shared: Json) -> Json:
    name = parameter.get("$ref", "").rpartition("/")[2]
    resolved: Json = shared[name] if name else parameter
    return resolved


def curl(sample: Sample) -> str:
    start = "curl -sS -w '\\n'" + ("" if sample.method == "GET" else f" -X {sample.method}")
    lines = [f'{start} "{sample.url}"', '-H "X-Service-Key: $STUDIO_KEY"']
    lines += [f'-H "{name}: {value}"' for name, value in _sent_headers(sample).items()]
    if sample.body is not None:
        text = json.dumps(sample.body, ensure_ascii=False).replace("'", "'\\''")
        lines.append(f"-d '{text}'")
    return " \\\n  ".join(lines)


def python(sample: Sample) -> str:
    lines = ["import json", "import os", "import urllib.request", "", "request = urllib.request.Request("]
    lines += [f"    {_text(sample.url)},", f"    method={_text(sample.method)},", "    headers={"]
    lines.append('        "X-Service-Key": os.environ["STUDIO_KEY"],')
    lines += [f"        {_text(name)}: {_text(value)}," for name, value in _sent_headers(sample).items()]
    lines.append("    },")
    if sample.body is not None:
        lines.append(f"    data=json.dumps({_literal(sample.body, 4, _PYTHON_WORDS)}).encode(),")
    lines += [")", "with urllib.request.urlopen(request) as response:"]
    lines.append(f"    print(response.status{', json.load(response)' if sample.answers_json else ''})")
    return "\n".join(lines if sample.answers_json or sample.body is not None else lines[1:])


def javascript(sample: Sample) -> str:
    lines = [f"const response = await fetch({_text(sample.url)}, {{", f"  method: {_text(sample.method)},"]
    lines += ["  headers: {", '    "X-Service-Key": process.env.STUDIO_KEY,']
    lines += [f"    {_text(name)}: {_text(value)}," for name, value in _sent_headers(sample).items()]
    lines.append("  },")
    if sample.body is not None:
        lines.append(f"  body: JSON.stringify({_literal(sample.body, 2, {})}),")
    answer = ", await response.json()" if sample.answers_json else ""
    return "\n".join([*lines, "});", f"console.log(response.status{answer});"])


def _sent_headers(sample: Sample) -> dict[str, str]:
    return sample.headers | ({} if sample.body is None else {"Content-Type": "application/json"})


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _literal(value: Any, indent: int, words: Mapping[Any, str]) -> str:
    """A value as source text: JSON, with the language's own words for null, true and false."""
    inner, end = " " * (indent + 4 if words else indent + 2), " " * indent
    deeper = len(inner)
    if isinstance(value, dict) and value:
        rows = [f"{inner}{_text(key)}: {_literal(one, deeper, words)}," for key, one in value.items()]
        return "\n".join(["{", *rows, end + "}"])
    if isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        rows = [f"{inner}{_literal(one, deeper, words)}," for one in value]
        return "\n".join(["[", *rows, end + "]"])
    if isinstance(value, list):
        return "[" + ", ".join(_literal(one, indent, words) for one in value) + "]"
    if value is None or isinstance(value, bool):
        return words.get(value, json.dumps(value))
    return json.dumps(value, ensure_ascii=False)
