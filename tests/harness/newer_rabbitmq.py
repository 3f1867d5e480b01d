"""RabbitMQ 4 from a newer Debian release, with its Erlang, in a folder of their own: nothing is installed."""

import os
import shutil
import sys
from pathlib import Path

from tests.harness.debian_release import HERE, copy_libraries, fetch, run, use_loader
from tests.harness.rabbitmq import RabbitBinaries

ERLANG = (
    *("base", "asn1", "crypto", "eldap", "ftp", "inets", "mnesia", "os-mon", "parsetools", "public-key"),
    *("runtime-tools", "snmp", "ssl", "syntax-tools", "tftp", "tools", "xmerl"),
)
LIBRARIES = ("libc6", "libgcc-s1", "libssl3t64", "libstdc++6", "libtinfo6", "libzstd1", "zlib1g")
PACKAGES = ("rabbitmq-server", *(f"erlang-{name}" for name in ERLANG), *LIBRARIES)
# Where the release's own scripts expect Erlang.
INSTALLED = "=/usr/lib/erlang\n"


def fetch_rabbitmq_4(root: Path = Path(sys.prefix)) -> RabbitBinaries | None:
    made = fetch("rabbitmq", PACKAGES, _make, root)
    if made is None:
        return None
    erlang = made / "usr/lib/erlang"
    return RabbitBinaries(made / "usr/lib/rabbitmq/bin", erlang / "bin/epmd", erlang / "bin")


def _make(unpacked: Path, made: Path) -> None:
    """Erlang's programs start one another by name, so each of them becomes a script that uses the loader."""
    shutil.move(unpacked, made)
    (made / "lib").mkdir()
    copy_libraries(made, made / "lib")
    erlang = made / "usr/lib/erlang"
    for folder in (*erlang.glob("erts-*/bin"), erlang / "bin", *erlang.glob("lib/*/priv/bin")):
        for program in folder.iterdir():
            if not program.is_symlink() and program.read_bytes()[:4] == b"\x7fELF":
                use_loader(program, made)
    for script in (erlang / "bin/erl", *erlang.glob("erts-*/bin/erl")):
        up = os.path.relpath(erlang, script.parent)
        script.write_text(
            script.read_text()
            .replace("#!/bin/sh\n", f"#!/bin/sh\n{HERE}", 1)
            .replace(INSTALLED, f"=$(readlink -f $here/{up})\n")
        )
    run(str(erlang / "bin/erl"), "-noshell", "-eval", "crypto:strong_rand_bytes(1), halt().")
