"""What every command has: its place in the tree, an example, `--json`, and one sentence for a failure."""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from datetime import tzinfo

    from services.cli.operator_client import OperatorClient
    from shared.settings import Settings

_JSON = "studioctl.json"


class CommandFailed(Exception):
    """Ends a command with one sentence on stderr and exit code 1, or 2 for wrong usage."""

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Call:
    """The call of a command: the settings that it runs with, and how its result is printed.

    Both load modules that `--help` does not need, so they are imported here.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    @cached_property
    def settings(self) -> "Settings":
        from shared.settings import SettingsProblem, read_settings

        try:
            return read_settings(os.environ)
        except SettingsProblem as problem:
            raise CommandFailed(str(problem)) from None

    @cached_property
    def operators(self) -> "OperatorClient":
        from services.cli.operator_client import client_for

        return client_for(self.settings)

    @property
    def on_terminal(self) -> bool:
        """A person reads the output, so it is a table and not JSON."""
        return not self.as_json and sys.stdout.isatty()

    def show(self, response: Any, columns: Sequence[str] = (), zone: "tzinfo | None" = None) -> None:
        from services.cli.output import show

        show(response, as_json=not self.on_terminal, columns=columns, zone=zone)


class Command(NamedTuple):
    """`run` takes the call and the arguments. `example` is what follows the command's name in its example."""

    name: str
    about: str
    run: Callable[..., int | None]
    arguments: Sequence[inspect.Parameter]
    example: str = ""


def command(name: str, run: Callable[..., int | None], example: str = "") -> Command:
    """A command that a function runs: its docstring and its arguments, after the call."""
    about = (run.__doc__ or "").rstrip(".")
    arguments = list(inspect.signature(run).parameters.values())[1:]
    return Command(name, about[:1].lower() + about[1:], run, arguments, example)


def _remember_json(context: typer.Context, given: bool) -> None:
    if given:
        context.meta[_JSON] = True


Json = Annotated[
    bool, typer.Option("--json", callback=_remember_json, help="print JSON (accepted anywhere on the line)")
]


def accept_json(json: Json = False) -> None:
    """A group has no options but `--json`, which is accepted anywhere on the line."""


def add_command(group: typer.Typer, command: Command) -> None:
    def invoke(context: typer.Context, json: bool, **given: Any) -> None:
        raise typer.Exit(_exit_code(command.run, Call(as_json=_JSON in context.meta), given))

    by_name = inspect.Parameter.KEYWORD_ONLY
    # Typer reads a command's arguments from its signature.
    invoke.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("context", by_name, annotation=typer.Context),
            *(argument.replace(kind=by_name) for argument in command.arguments),
            inspect.Parameter("json", by_name, annotation=Json, default=False),
        ]
    )
    group.command(
        command.name.rpartition(" ")[2],
        help=f"{command.about[:1].upper()}{command.about[1:]}.",
        short_help=command.about,
        epilog=f"\b\nexample:\n  studioctl {command.name} {command.example}".rstrip(),
    )(invoke)


def _exit_code(run: Callable[..., int | None], call: Call, given: dict[str, Any]) -> int:
    try:
        return run(call, **given) or 0
    except CommandFailed as problem:
        print(f"studioctl: {problem}", file=sys.stderr)
        return problem.exit_code


def confirm(what: str, *, yes: bool) -> None:
    """Ask before anything that cannot be undone. A script has to pass --yes, or the command does nothing."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandFailed(f"{what} Pass --yes to go on.", exit_code=2)
    # Not `typer.confirm`: it ends Ctrl-C and the end of the input alike, with a word of its own.
    print(f"{what} Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandFailed("Nothing was done.")
