"""Postgres from a newer Debian release, in a folder of its own: nothing is installed."""

import shutil
import sys
from pathlib import Path

from shared.servers.postgres_binaries import PostgresBinaries
from tests.harness.debian_release import RELEASE, copy_libraries, fetch, run, use_loader

PROGRAMS = ("initdb", "postgres")
# What the server is linked with, and what those are linked with.
LIBRARIES = (
    *("libaudit1", "libc6", "libcap-ng0", "libcap2", "libcom-err2", "libffi8", "libgcc-s1", "libgmp10"),
    *("libgnutls30t64", "libgssapi-krb5-2", "libhogweed6t64", "libicu76", "libidn2-0", "libk5crypto3"),
    *("libkeyutils1", "libkrb5-3", "libkrb5support0", "libldap2", "liblz4-1", "liblzma5", "libnettle8t64"),
    *("libp11-kit0", "libpam0g", "libpq5", "libsasl2-2", "libselinux1", "libpcre2-8-0", "libssl3t64"),
    *("libstdc++6", "libsystemd0", "libtasn1-6", "libunistring5", "libxml2", "libzstd1", "zlib1g"),
)


def fetch_postgres(major: int, home: Path, root: Path = Path(sys.prefix)) -> PostgresBinaries | None:
    """A copy in `home`: the server's user may not be able to enter the folder of the virtual environment."""
    made = fetch(f"postgres-{major}", (f"postgresql-{major}", *LIBRARIES), _make, root)
    if made is None:
        return None
    copy = shutil.copytree(made, home / made.parent.name, symlinks=True)
    return PostgresBinaries(_programs(copy), major, f"Postgres {major}, from Debian {RELEASE}")


def _make(unpacked: Path, made: Path) -> None:
    """The server looks for its files relative to where it was started, so the folders stay as they are."""
    shutil.move(unpacked, made)
    (made / "lib").mkdir()
    copy_libraries(made, made / "lib")
    folder = _programs(made)
    for name in PROGRAMS:
        use_loader(folder / name, made)
        run(str(folder / name), "--version")


def _programs(tree: Path) -> Path:
    (folder,) = tree.glob("usr/lib/postgresql/*/bin")
    return folder
