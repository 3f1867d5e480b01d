"""`studioctl completion bash|zsh`: a completion script with every command, generated from the parser."""

import argparse
from collections.abc import Iterator

_SCRIPT = """\
# studioctl completion. To use it:  source <(studioctl completion {shell})
{zsh}_studioctl() {{
  local word at="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    case "$at $word" in
{paths}
    esac
  done
  local words=""
  case "$at" in
{words}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _studioctl studioctl
"""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    known = list(_parsers(parser, ""))
    paths = "\n".join(f'      "{path}") at="{path}" ;;' for path, _ in known if path)
    words = "\n".join(f'    "{path}") words="{" ".join(_words(one))}" ;;' for path, one in known)
    zsh = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return _SCRIPT.format(shell=shell, zsh=zsh, paths=paths, words=words)


def _parsers(parser: argparse.ArgumentParser, path: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield path, parser
    for name, below in subcommands(parser).items():
        yield from _parsers(below, f"{path} {name}")


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _words(parser: argparse.ArgumentParser) -> list[str]:
    options = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
    choices = [
        str(choice)
        for action in parser._actions
        if action.choices and not isinstance(action, argparse._SubParsersAction)
        for choice in action.choices
    ]
    return [*subcommands(parser), *choices, *options, *(["--json"] if "--json" not in options else [])]
