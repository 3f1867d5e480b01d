"""A question before what cannot be undone."""

import sys

from services.cli.errors import CommandFailed


def confirm(what: str, *, yes: bool, scripts_need_yes: bool = True) -> None:
    """Asks on a terminal. A script says --yes; without it nothing is done.

    `scripts_need_yes` is off for commands that scripts have run since before there was a question.
    """
    if yes or not (sys.stdin.isatty() or scripts_need_yes):
        return
    if not sys.stdin.isatty():
        raise CommandFailed(f"{what} Say --yes to go on.", exit_code=2)
    print(f"{what} Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandFailed("Nothing was done.")
