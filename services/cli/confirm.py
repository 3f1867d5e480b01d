"""Asks for confirmation before anything that cannot be undone."""

import sys

from services.cli.errors import CommandFailed


def confirm(what: str, *, yes: bool, scripts_need_yes: bool = True) -> None:
    """Ask on a terminal. A script has to pass --yes, or the command does nothing.

    `scripts_need_yes` is off for commands that existed before this prompt, so that old scripts still work.
    """
    if yes or not (sys.stdin.isatty() or scripts_need_yes):
        return
    if not sys.stdin.isatty():
        raise CommandFailed(f"{what} Pass --yes to go on.", exit_code=2)
    print(f"{what} Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandFailed("Nothing was done.")
