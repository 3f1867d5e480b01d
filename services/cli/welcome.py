"""What `studioctl up` prints when it is ready: where everything is, the key, and three calls to try."""

from pathlib import Path

from shared.settings import Settings


def welcome(
    settings: Settings, key: str | None, seconds: float, *, log: Path | None, console: str | None = None
) -> str:
    base = f"http://{settings.host}:{settings.port_of('gateway')}"
    operators = f"http://{settings.operator_host}:{settings.operator_port}/operator/v1"
    lines = ["", f"The Studio Partner API is up after {seconds:.1f} s.", ""]
    lines += [f"  Base URL         {base}/partner/v1", f"  Reference        {base}/docs"]
    lines += [f"  Operators' API   {operators} (studioctl uses it)"]
    lines += [f"  Operators' page  {operators.removesuffix('/operator/v1')}/console"]
    if log is not None:
        lines += [f"  Request log      {log} (--verbose shows it here)"]
    lines += [f"  Data, secrets    {settings.home}"]
    if key is not None:
        lines += ["", "A key with every scope of the demo studio:", "", key, "", "Three calls to try:", ""]
        lines += [
            _call(key, f"{base}/partner/v1/{path}") for path in ("studio", "classes?limit=3", "products")
        ]
    if console is not None:
        lines += [
            "",
            "The console; this link works once, within ten minutes (`studioctl console` creates another):",
        ]
        lines += ["", console]
    lines += ["", "Ctrl-C stops everything.", ""]
    return "\n".join(lines)


def _call(key: str, url: str) -> str:
    return f"curl -sS -w '\\n' -H 'X-Service-Key: {key}' '{url}'"
