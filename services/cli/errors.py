"""Ends a command with one sentence on stderr and exit code 1, or 2 for wrong usage."""


class CommandFailed(Exception):
    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
