"""`studioctl`: the operators' command line. All but up, serve and migrate call the operators' API."""

import os
import sys
from collections.abc import Sequence

from services.cli.arguments import parser
from services.cli.errors import CommandFailed
from shared.settings import SettingsProblem, read_settings


def main() -> None:
    sys.exit(run_command(sys.argv[1:]))


def run_command(words: Sequence[str]) -> int:
    # --json is accepted anywhere on the line, so it is removed before argparse parses it.
    as_json = "--json" in words
    arguments = parser().parse_args([word for word in words if word != "--json"])
    arguments.json = as_json
    try:
        return int(arguments.run(read_settings(os.environ), arguments) or 0)
    except (CommandFailed, SettingsProblem) as problem:
        print(f"studioctl: {problem}", file=sys.stderr)
        return getattr(problem, "exit_code", 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1


if __name__ == "__main__":
    main()
