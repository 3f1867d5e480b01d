"""Creates the virtual environment and installs the pinned packages, with progress from the start.

    python3 deploy/install.py VENV REQUIREMENTS

Standard library only: it runs before anything is installed. uv installs in seconds; where it is missing,
pip does the same in about a minute.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

TOOLS = "deploy/requirements-install.lock"
# What the first start would compile in silence.
MODULES = (
    "import services.cli.main, services.cli.up, services.cli.load_demo, services.all_in_one, "
    "rich.live, rich.spinner"
)


class StepFailed(Exception):
    """The message is what the failed command printed."""


def main(venv: Path, requirements: Path) -> int:
    began = time.monotonic()
    python = venv / "bin" / "python"
    try:
        wheel = pip_wheel()
        if not python.exists():
            # Installing pip there would take as long as all the rest.
            bare = ["--without-pip"] if wheel else []
            run("Creating the virtual environment", [sys.executable, "-m", "venv", *bare, str(venv)])
        install(python, requirements, wheel)
        run("Compiling the modules", [str(python), "-c", MODULES])
    except StepFailed as problem:
        print(f"{problem}\n\nThe installation failed; nothing was started.", file=sys.stderr)
        if "ensurepip" in str(problem):
            print("On Debian or Ubuntu: apt-get install python3-venv", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The next `make up` goes on from here.", file=sys.stderr)
        return 130
    say(f"Installed in {time.monotonic() - began:.0f} s.\n")
    return 0


def pip_wheel() -> Path | None:
    """The pip that comes with Python. None where it is not kept as a wheel."""
    try:
        import ensurepip
    except ImportError:
        return None
    folders = Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels")
    return next((wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))), None)


def install(python: Path, requirements: Path, wheel: Path | None) -> None:
    packages = f"Installing {count(requirements)} packages"
    module = [str(wheel / "pip")] if wheel else ["-m", "pip"]
    pip = [str(python), *module, "install", "--disable-pip-version-check", "--require-hashes"]
    project = ["--no-deps", "--no-build-isolation", "-e", "."]
    run("Installing the installers", [*pip, "--no-compile", "-r", TOOLS])
    try:
        uv = [str(python.with_name("uv")), "pip", "install", "--python", str(python)]
        run(packages, [*uv, "--require-hashes", "-r", str(requirements)])
        run("Installing the project itself", [*uv, *project])
    except StepFailed:
        # uv has no wheel for every platform.
        say("uv did not work here; pip does the same in about a minute.\n")
        run(packages, [*pip, "-r", str(requirements)])
        run("Installing the project itself", [*pip[:-1], *project])


def count(requirements: Path) -> int:
    return sum("==" in line for line in requirements.read_text().splitlines())


def run(what: str, command: Sequence[str]) -> None:
    """On a terminal, shows one line with the elapsed seconds; elsewhere prints a single line."""
    on_terminal = sys.stdout.isatty()
    began = time.monotonic()
    if not on_terminal:
        say(f"{what} …\n")
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            while child.poll() is None:
                if on_terminal:
                    say(f"\r  {what} … {time.monotonic() - began:.0f} s ")
                with suppress(subprocess.TimeoutExpired):
                    child.wait(0.5)
        except KeyboardInterrupt:
            child.terminate()
            child.wait()
            raise
        if on_terminal:
            say(f"\r  {what}: {time.monotonic() - began:.1f} s   \n")
        if child.returncode:
            output.seek(0)
            raise StepFailed(output.read().strip())


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
