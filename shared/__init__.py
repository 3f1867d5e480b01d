"""Code that several services use. It does not import any service."""

import sys

# structlog imports rich, if it is installed, for tracebacks that we never show. It is installed, because
# the command line needs it, and it costs each process 0.1 s and 3 MB. Without it structlog does not
# miss it.
if "structlog" not in sys.modules and "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment]
    import structlog  # noqa: F401

    del sys.modules["rich"]
