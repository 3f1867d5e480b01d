"""What only some tests need: found on this machine, or installed from Debian if that is safe."""

import os
import shutil
import subprocess
from pathlib import Path

FOLDERS = ("/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin")
# Debian starts a server as soon as it is installed, unless this answers 101.
POLICY = Path("/usr/sbin/policy-rc.d")


def find_binary(*names: str) -> str | None:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *FOLDERS])
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def install(package: str) -> None:
    """As root on Debian or Ubuntu. Elsewhere nothing happens, and the tests say what is missing."""
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists() or not shutil.which("apt-get"):
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    is_ours = not POLICY.exists()
    if is_ours:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
    try:
        for command in ("update", f"install -y --no-install-recommends {package}"):
            subprocess.run(["apt-get", "-qq", *command.split()], env=environment, capture_output=True)
    finally:
        if is_ours:
            POLICY.unlink()


LIBRARIES = "usr/lib/*/faketime/libfaketimeMT.so.1"


def find_libfaketime() -> Path | None:
    return next(iter(sorted(Path("/").glob(LIBRARIES))), None)
