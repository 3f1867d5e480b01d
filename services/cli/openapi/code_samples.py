"""`x-codeSamples`: each operation in curl, Python and JavaScript, built from the examples in the document.

Partners see calls of their client libraries, operators the requests themselves. The key or token is read from
an environment variable, so that nobody pastes one into a file. The reference page puts its own origin in the
place of the sample's.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from msgspec import Struct

Json = dict[str, Any]

JSON: Final = "application/json"
_PYTHON_WORDS: Final = {None: "None", True: "True", False: "False"}


class Api(Struct, frozen=True):
    """Where the samples of one document are sent, the header that a caller is known by, and the environment
    variable that its value is read from. `has_clients`: there are client libraries for it.
    """

    base_url: str
    header: str
    variable: str
    prefix: str = ""
    has_clients: bool = False


class Sample(Struct, frozen=True):
    """What a request sends. `headers` are those besides the caller's. A client is given `ids`, those of the
    path, and `fields`, the query and the body.
    """

    method: str
    url: str
    api: Api
    headers: dict[str, str]
    operation: str
    ids: list[str]
    fields: Json
    body: Any = None
    # The media type of the response; None if it has no body.
    response: str | None = JSON


def code_samples(method: str, path: str, operation: Json, shared_parameters: Json, api: Api) -> list[Json]:
    sample = _sample(method, path, operation, shared_parameters, api)
    return [
        {"lang": "Shell", "label": "curl", "source": curl(sample)},
        {"lang": "Python", "label": "Python", "source": python(sample)},
        {"lang": "JavaScript", "label": "JavaScript", "source": javascript(sample)},
    ]


def _sample(method: str, path: str, operation: Json, shared_parameters: Json, api: Api) -> Sample:
    parameters = [_resolved(one, shared_parameters) for one in operation["parameters"]]
    query: Json = {}
    ids: list[str] = []
    for one in parameters:
        if one["in"] == "path":
            ids.append(one["example"])
            path = path.replace("{" + one["name"] + "}", one["example"])
        elif one["in"] == "query" and "example" in one:
            query[one["name"]] = one["example"]
        elif one["in"] == "query" and one["name"] == "limit":
            query["limit"] = 10
    if query:
        path += f"?{urlencode(query)}"
    headers = {}
    if any(one["name"] == "Idempotency-Key" and one["required"] for one in parameters):
        # One for each operation. It is fixed, so that a sample that is run twice gets the same response.
        headers["Idempotency-Key"] = operation["operationId"].replace("_", "-") + "-0001"
    content = operation.get("requestBody", {}).get("content", {})
    body = None
    for media, described in content.items():
        body = described.get("example")
        if body is not None:
            headers["Content-Type"] = media
    good = next(response for status, response in operation["responses"].items() if status.startswith("2"))
    media_type = next(iter(good.get("content", {})), None)
    fields = query | (body if isinstance(body, dict) else {})
    return Sample(
        method, f"{api.base_url}{path}", api, headers, operation["operationId"], ids, fields, body, media_type
    )


def _resolved(parameter: Json, shared: Json) -> Json:
    name = parameter.get("$ref", "").rpartition("/")[2]
    resolved: Json = shared[name] if name else parameter
    return resolved


def curl(sample: Sample) -> str:
    start = "curl -sS -w '\\n'" + ("" if sample.method == "GET" else f" -X {sample.method}")
    known = sample.api
    lines = [f'{start} "{sample.url}"', f'-H "{known.header}: {known.prefix}${known.variable}"']
    lines += [f'-H "{name}: {value}"' for name, value in sample.headers.items()]
    if sample.body is not None:
        text = _sent_text(sample.body).replace("'", "'\\''")
        lines.append(f"{'--data-binary' if isinstance(sample.body, str) else '-d'} '{text}'")
    return " \\\n  ".join(lines)


def python(sample: Sample) -> str:
    if sample.api.has_clients:
        return _python_client(sample)
    lines = ["import json", "import os", "import urllib.request", "", "request = urllib.request.Request("]
    lines += [f"    {_text(sample.url)},", f"    method={_text(sample.method)},", "    headers={"]
    known = sample.api
    prefix = f"{_text(known.prefix)} + " if known.prefix else ""
    lines.append(f"        {_text(known.header)}: {prefix}os.environ[{_text(known.variable)}],")
    lines += [f"        {_text(name)}: {_text(value)}," for name, value in sample.headers.items()]
    lines.append("    },")
    if isinstance(sample.body, str):
        lines.append(f"    data={_text(sample.body)}.encode(),")
    elif sample.body is not None:
        lines.append(f"    data=json.dumps({_literal(sample.body, 4, _PYTHON_WORDS)}).encode(),")
    lines += [")", "with urllib.request.urlopen(request) as response:"]
    read = {JSON: ", json.load(response)", None: ""}.get(sample.response, ", response.read().decode()")
    lines.append(f"    print(response.status{read})")
    return "\n".join(lines if sample.response == JSON or sample.body is not None else lines[1:])


def _python_client(sample: Sample) -> str:
    fields = dict(sample.fields)
    if key := sample.headers.get("Idempotency-Key"):
        fields["idempotency_key"] = key
    given = [_text(one) for one in sample.ids]
    given += [f"{name}={_literal(value, 8, _PYTHON_WORDS)}" for name, value in fields.items()]
    call = f"client.{sample.operation}({', '.join(given)})"
    lines = [f"    {call}" if sample.response is None else f"    print({call})"]
    if len(fields) > 1 or "\n" in call:
        lines = [f"    result = client.{sample.operation}("]
        lines += [*(f"        {one}," for one in given), "    )", "    print(result)"]
    known = f"os.environ[{_text(sample.api.variable)}], base_url={_text(sample.api.base_url)}"
    start = ["import os", "", "from studio_partner import Client", "", f"with Client({known}) as client:"]
    return "\n".join([*start, *lines])


def javascript(sample: Sample) -> str:
    if sample.api.has_clients:
        return _javascript_client(sample)
    lines = [f"const response = await fetch({_text(sample.url)}, {{", f"  method: {_text(sample.method)},"]
    known = sample.api
    prefix = f"{_text(known.prefix)} + " if known.prefix else ""
    lines += ["  headers: {", f"    {_text(known.header)}: {prefix}process.env.{known.variable},"]
    lines += [f"    {_text(name)}: {_text(value)}," for name, value in sample.headers.items()]
    lines.append("  },")
    if isinstance(sample.body, str):
        lines.append(f"  body: {_text(sample.body)},")
    elif sample.body is not None:
        lines.append(f"  body: JSON.stringify({_literal(sample.body, 2, {})}),")
    read = {JSON: ", await response.json()", None: ""}.get(sample.response, ", await response.text()")
    return "\n".join([*lines, "});", f"console.log(response.status{read});"])


def _javascript_client(sample: Sample) -> str:
    fields = dict(sample.fields)
    if key := sample.headers.get("Idempotency-Key"):
        fields["idempotencyKey"] = key
    given = [_text(one) for one in sample.ids] + ([_javascript_fields(fields)] if fields else [])
    name = re.sub(r"_(\w)", lambda found: found[1].upper(), sample.operation)
    call = f"await client.{name}({', '.join(given)})"
    known = f"key: process.env.{sample.api.variable}, baseUrl: {_text(sample.api.base_url)}"
    return "\n".join(
        [
            'import { Client } from "studio-partner";',
            "",
            f"const client = new Client({{ {known} }});",
            f"{call};" if sample.response is None else f"console.log({call});",
        ]
    )


def _javascript_fields(fields: Json) -> str:
    """Names need no quotes, and what is short needs one line."""
    source = re.sub(r'^(\s*)"([A-Za-z_]\w*)": ', r"\1\2: ", _literal(fields, 0, {}), flags=re.MULTILINE)
    rows = source.split("\n")
    return f"{{ {rows[1].strip().rstrip(',')} }}" if len(rows) == 3 else source


def _sent_text(body: Any) -> str:
    """A text is sent unchanged: NDJSON is not JSON."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


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
