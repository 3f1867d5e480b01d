"""Load the demo studio through the regular import."""

import io
from datetime import UTC, datetime
from typing import Any

from services.cli.demo import demo_lines
from services.cli.errors import CommandFailed
from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from shared.wire import encode


def load_demo(client: OperatorClient, *, progress: bool = True) -> dict[str, Any]:
    file = io.BytesIO(b"".join(encode(line) + b"\n" for line in demo_lines(datetime.now(UTC).date())))
    size = file.getbuffer().nbytes
    report = import_stream(client, file, None, size=size, progress=progress, send_events=False)
    if report["rejected_count"]:
        raise CommandFailed(f"The demo studio was not loaded completely: {report['rejected'][0]['reason']}")
    return report
