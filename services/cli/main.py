"""`studioctl`: the operators' command line. All but up, serve and migrate call the operators' API."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script
from typer.core import TyperGroup

from services.cli.command import Command, Json, accept_json, add_command
from services.cli.desk_requests import DESK_REQUESTS
from services.cli.local_commands import LOCAL_COMMANDS
from services.cli.operator_requests import OPERATOR_REQUESTS

COMMANDS: tuple[Command, ...] = (
    *LOCAL_COMMANDS,
    *(row.command for row in OPERATOR_REQUESTS),
    *(row.command for row in DESK_REQUESTS),
)
GROUPS = {
    "studios": "create and list studios",
    "keys": "partners' keys",
    "clients": "partners' integrations and their rate limits",
    "staff": "tokens of a studio's staff",
    "audit": "what operators and staff changed",
    "members": "members of a studio",
    "leads": "people who may become members",
    "classes": "the timetable",
    "bookings": "walk-ins, check-in, no-shows, cancelling",
    "waitlist": "promote and skip those who wait",
    "catalog": "locations, rooms, class types, instructors and products",
    "requests": "what partners have asked for",
    "memberships": "pause, resume and cancel memberships",
    "purchases": "what members bought",
    "events": "the log of what happened",
    "webhooks": "endpoints, deliveries, and listening while developing",
    "queues": "message queues and what is parked in them",
    "sequences": "event sequences after a restore",
}
COMPLETE_VARIABLE = "_STUDIOCTL_COMPLETE"


def main() -> None:
    sys.exit(run_command(sys.argv[1:]))


def run_command(words: Sequence[str]) -> int:
    completion_init()
    try:
        application().main(args=words, prog_name="studioctl", complete_var=COMPLETE_VARIABLE)
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def application() -> TyperGroup:
    top = _group("Run and administer the Studio Partner API. `studioctl COMMAND --help` shows an example.")
    top.callback()(_options)
    groups = {"": top} | {name: _group(about) for name, about in GROUPS.items()}
    for command in COMMANDS:
        add_command(groups[command.name.rpartition(" ")[0]], command)
    for name, about in GROUPS.items():
        top.add_typer(groups[name], name=name, help=about)
    found = typer.main.get_command(top)
    assert isinstance(found, TyperGroup)
    return found


def _group(about: str) -> typer.Typer:
    # Without markup Typer prints plain text, and does not load rich for it.
    return typer.Typer(
        help=about,
        callback=accept_json,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )


def _show_version(given: bool) -> None:
    if not given:
        return
    # Imported when it is asked for: looking it up takes longer than to read the rest of the line.
    from importlib.metadata import PackageNotFoundError, version

    from shared.wire import API_VERSION

    try:
        installed = version("studio-partner-api")
    except PackageNotFoundError:
        installed = "(a checkout that is not installed)"
    print(f"studioctl {installed} (API {API_VERSION})")
    raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", callback=_show_version, is_eager=True, help="show the version and exit"),
]


def _options(json: Json = False, version: Version = False) -> None:
    """Both are handled by their callbacks."""


def completion_script(shell: str) -> str:
    return get_completion_script(prog_name="studioctl", complete_var=COMPLETE_VARIABLE, shell=shell)


if __name__ == "__main__":
    main()
