"""Server failures, reported as one sentence."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ServerProblem(Exception):
    """A server could not be started. The text is one sentence with the cause and the remedy."""


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turns an OSError in `folder` into a `ServerProblem`."""
    try:
        yield
    except OSError as error:
        raise ServerProblem(sentence_for(folder, error)) from error


def sentence_for(folder: Path, error: OSError) -> str:
    match error.errno:
        case errno.EROFS:
            return f"The folder {folder} is on a read-only file system; choose another one."
        case errno.EACCES | errno.EPERM:
            return f"The folder {folder} is not writable by this user; choose another one."
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk that holds {folder} is full; free some space or choose another folder."
        case errno.ENOTDIR | errno.EEXIST:
            return f"{folder} is a file and not a folder; move it or choose another folder."
    return f"The folder {folder} cannot be used: {error.strerror or error}."
