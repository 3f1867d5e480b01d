"""Postgres, RabbitMQ and other programs of a newer Debian release, in folders of their own.

Nothing is installed. They run with that release's loader and libraries: those of this machine may be too old.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from shared.servers.postgres_binaries import PostgresBinaries
from tests.harness.rabbitmq import RabbitBinaries

RELEASE = "trixie"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# The addresses that this machine's own settings name, before any list was downloaded too.
ADDRESSES = ["apt-get", "update", "--print-uris"]
# After a failure, so that not every test waits for a mirror that is away.
ASK_AGAIN_SECONDS = 600
TIMEOUT = 120.0
HERE = 'here=$(dirname "$(readlink -f "$0")")\n'


def fetch_program(name: str, libraries: Sequence[str]) -> list[str] | None:
    """The command that runs `name`, the program of the package with that name. None if it cannot be had."""

    def make(unpacked: Path, flat: Path) -> None:
        flat.mkdir()
        copy_libraries(unpacked, flat)
        (program,) = unpacked.glob(f"usr/*bin/{name}")
        shutil.copy2(program, flat)
        run(*command_in(flat, name), "--version")

    made = fetch(name, [name, "libc6", *libraries], make)
    return command_in(made, name) if made else None


def fetch(name: str, packages: Sequence[str], make: Callable[[Path, Path], None]) -> Path | None:
    """The folder that `make` fills from the unpacked packages, once for all. None if it cannot be had."""
    folder = Path(sys.prefix) / f"{RELEASE}-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        failed, made = folder / "failed", folder / "program"
        is_recent = failed.exists() and time.time() - failed.stat().st_mtime < ASK_AGAIN_SECONDS
        if not made.exists() and not is_recent:
            try:
                _fetch(packages, make, made)
            except (OSError, subprocess.SubprocessError) as problem:
                failed.write_text(str(problem))
    return made if made.exists() else None


def command_in(folder: Path, name: str) -> list[str]:
    """For a copy, too: a server's user may not be able to enter the folder of the virtual environment."""
    (loader,) = folder.glob("ld-linux*")
    return [str(loader), "--library-path", str(folder), str(folder / name)]


def copy_libraries(unpacked: Path, folder: Path) -> None:
    for library in unpacked.glob("usr/lib/*-linux-gnu/*.so*"):
        shutil.copy2(library, folder)


def use_loader(program: Path, made: Path) -> None:
    """Replaces it with a script, for programs that start one another by name."""
    (loader,) = (made / "lib").glob("ld-linux*")
    real = program.with_name(f"{program.name}.elf")
    program.rename(real)
    lib = f"$here/{os.path.relpath(made / 'lib', program.parent)}"
    words = f'exec "{lib}/{loader.name}" --library-path "{lib}" --argv0 "$0" "$here/{real.name}" "$@"\n'
    program.write_text(f"#!/bin/sh\n{HERE}{words}")
    program.chmod(0o755)


def _fetch(packages: Sequence[str], make: Callable[[Path, Path], None], made: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb") and KEYRING.exists()):
        raise FileNotFoundError("this machine has no apt-get or no keys of Debian")
    with tempfile.TemporaryDirectory(dir=made.parent) as work:
        unpacked, complete = Path(work) / "unpacked", Path(work) / "complete"
        for package in _download(packages, Path(work)):
            run("dpkg-deb", "-x", str(package), str(unpacked))
        make(unpacked, complete)
        complete.chmod(0o755)
        complete.rename(made)


def _download(packages: Sequence[str], work: Path) -> list[Path]:
    """With package lists of our own. apt checks the release's signature and every package's hash."""
    for part in ("state/lists/partial", "cache/archives/partial", "packages"):
        (work / part).mkdir(parents=True)
    (work / "status").touch()
    (work / "sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {RELEASE} main\n")
    settings = {
        "Dir::State": work / "state",
        "Dir::State::status": work / "status",
        "Dir::Cache": work / "cache",
        "Dir::Etc::SourceList": work / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Acquire::Languages": "none",
        "Acquire::Retries": 0,
        "Acquire::http::Timeout": 20,
        "APT::Sandbox::User": "",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    run("apt-get", "-qq", *options, "update")
    run("apt-get", "-qq", *options, "download", *packages, cwd=work / "packages")
    return sorted((work / "packages").glob("*.deb"))


def _mirror() -> str:
    found = re.search(r"'(\S+/debian)/dists/", run(*ADDRESSES))
    if found is None:
        raise FileNotFoundError("apt knows no mirror of Debian")
    return found[1]


def run(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode:
        raise subprocess.SubprocessError(f"{words[0]}: {done.stderr.strip()[-500:]}")
    return done.stdout


PROGRAMS = ("initdb", "postgres")
# What the server is linked with, and what those are linked with.
POSTGRES_LIBRARIES = (
    *("libaudit1", "libc6", "libcap-ng0", "libcap2", "libcom-err2", "libffi8", "libgcc-s1", "libgmp10"),
    *("libgnutls30t64", "libgssapi-krb5-2", "libhogweed6t64", "libicu76", "libidn2-0", "libk5crypto3"),
    *("libkeyutils1", "libkrb5-3", "libkrb5support0", "libldap2", "liblz4-1", "liblzma5", "libnettle8t64"),
    *("libp11-kit0", "libpam0g", "libpq5", "libsasl2-2", "libselinux1", "libpcre2-8-0", "libssl3t64"),
    *("libstdc++6", "libsystemd0", "libtasn1-6", "libunistring5", "libxml2", "libzstd1", "zlib1g"),
)


def fetch_postgres(major: int, home: Path) -> PostgresBinaries | None:
    """A copy in `home`: the server's user may not be able to enter the folder of the virtual environment."""
    made = fetch(f"postgres-{major}", (f"postgresql-{major}", *POSTGRES_LIBRARIES), _make_postgres)
    if made is None:
        return None
    copy = shutil.copytree(made, home / made.parent.name, symlinks=True)
    return PostgresBinaries(_programs(copy), major, f"Postgres {major}, from Debian {RELEASE}")


def _make_postgres(unpacked: Path, made: Path) -> None:
    """The server looks for its files relative to where it was started, so the folders stay as they are."""
    _move(unpacked, made)
    folder = _programs(made)
    for name in PROGRAMS:
        use_loader(folder / name, made)
        run(str(folder / name), "--version")


def _move(unpacked: Path, made: Path) -> None:
    shutil.move(unpacked, made)
    (made / "lib").mkdir()
    copy_libraries(made, made / "lib")


def _programs(tree: Path) -> Path:
    (folder,) = tree.glob("usr/lib/postgresql/*/bin")
    return folder


ERLANG = (
    *("base", "asn1", "crypto", "eldap", "ftp", "inets", "mnesia", "os-mon", "parsetools", "public-key"),
    *("runtime-tools", "snmp", "ssl", "syntax-tools", "tftp", "tools", "xmerl"),
)
RABBITMQ_LIBRARIES = ("libc6", "libgcc-s1", "libssl3t64", "libstdc++6", "libtinfo6", "libzstd1", "zlib1g")
PACKAGES = ("rabbitmq-server", *(f"erlang-{name}" for name in ERLANG), *RABBITMQ_LIBRARIES)
# Where the release's own scripts expect Erlang.
INSTALLED = "=/usr/lib/erlang\n"


def fetch_rabbitmq_4() -> RabbitBinaries | None:
    made = fetch("rabbitmq", PACKAGES, _make_rabbitmq)
    if made is None:
        return None
    erlang = made / "usr/lib/erlang"
    return RabbitBinaries(made / "usr/lib/rabbitmq/bin", erlang / "bin/epmd", erlang / "bin")


def _make_rabbitmq(unpacked: Path, made: Path) -> None:
    """Erlang's programs start one another by name, so each of them becomes a script that uses the loader."""
    _move(unpacked, made)
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
