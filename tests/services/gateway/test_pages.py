"""What is served without a key: the reference and the consoles, their policy, and the consoles' cookie."""

import gzip
import re
from hashlib import sha256

import pytest

from services.gateway.rules.console_cookie import cookie_of, needs_secure
from tests.harness.http import Reply
from tests.harness.system import ROOT, System


def check_policy(response: Reply) -> None:
    assert response.status == 200
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert int(response.headers["Content-Length"]) > 0


async def test_a_page_comes_whole_in_its_pieces(system: System) -> None:
    """Plain and compressed, and 304 for a browser that has it."""
    plain = await system.site.send("GET", "/partner/v1/openapi.json", headers={"Accept-Encoding": "identity"})
    squeezed = await system.site.send("GET", "/partner/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert plain.json() == squeezed.json()
    assert int(plain.headers["Content-Length"]) == len(plain.body)
    assert plain.headers["ETag"] != squeezed.headers["ETag"], "a strong tag is that of one form's bytes"
    for held, form in ((plain, "identity"), (squeezed, "gzip")):
        conditional = {"If-None-Match": held.headers["ETag"], "Accept-Encoding": form}
        again = await system.site.send("GET", "/partner/v1/openapi.json", headers=conditional)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["Cache-Control"] == held.headers["Cache-Control"] == "private, no-cache"
    head = await system.site.send("HEAD", "/partner/v1/openapi.json", headers={"Accept-Encoding": "identity"})
    assert (head.status, head.headers["Content-Length"]) == (200, plain.headers["Content-Length"])


CONSOLE = ROOT / "services" / "gateway" / "static" / "console"
MAX_LINES = 200
SOURCES = {
    path.relative_to(CONSOLE).as_posix(): path.read_text("utf-8")
    for path in CONSOLE.rglob("*")
    if path.is_file() and path.parent.name != "vendor"
}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_a_file_reads_nothing_as_html_and_nothing_from_outside(name: str) -> None:
    """What people typed is inserted as text, the pages work offline, and none waits for a *Refresh*."""
    text = SOURCES[name]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in text
    named = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text)
    assert set(named) <= {"http://www.w3.org"}
    assert "@import" not in text and not re.findall(r"\burl\(", text)
    assert not re.findall(r'[>"]Refresh[<"]', text)
    assert len(text.splitlines()) <= MAX_LINES


def test_a_script_keeps_only_the_theme_the_zone_and_the_studio() -> None:
    """Nothing else, and no token: scripts cannot read the cookie, and one file names what is kept."""
    for name, text in SOURCES.items():
        for way in ("localStorage", "sessionStorage", "document.cookie", "indexedDB"):
            assert way not in text or (name, way) == ("ui/theme.js", "localStorage"), name
    assert 'const KEPT = ["theme", "zone", "studio"];' in SOURCES["ui/theme.js"]


def test_a_vendored_file_is_what_its_recipe_says() -> None:
    """Its digest, its licence beside it, and nobody's address in it."""
    lit = (CONSOLE / "vendor" / "lit.js").read_bytes()
    assert sha256(lit).hexdigest() in (CONSOLE / "vendor" / "README.md").read_text()
    assert "BSD 3-Clause" in (CONSOLE / "vendor" / "lit.LICENSE").read_text()
    assert sorted(path.name for path in (CONSOLE / "vendor").iterdir()) == [
        "README.md",
        "lit.LICENSE",
        "lit.js",
    ]


def test_the_consoles_stay_small() -> None:
    """Under 150 KB gzip in all, and at most 4,000 lines of our own."""
    served = [path for path in CONSOLE.rglob("*") if path.suffix in (".js", ".css", ".html")]
    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in served) < 150_000
    own = [text for name, text in SOURCES.items() if name.endswith((".js", ".css"))]
    assert sum(len(text.splitlines()) for text in own) <= 4000


@pytest.mark.parametrize(
    ("port", "api", "module", "title"),
    [
        ("partner", "/partner/v1", "partner/main.js", "Studio console"),
        ("operator", "/operator/v1", "operators/main.js", "Operators' console"),
    ],
)
async def test_every_file_is_served_with_the_policy(
    system: System, port: str, api: str, module: str, title: str
) -> None:
    """Nothing inline, nobody's frame, no guessing of types, no referrer. What is no file of them is 404."""
    site = system.client(getattr(system.running, f"{port}_url"), {})
    names = [name for name in SOURCES if name.endswith((".js", ".css"))]
    reference = ("/docs", "/docs/page.js", "/docs/page.css", f"{api}/openapi.json")
    for path in (*reference, "/console", *(f"/console/{name}" for name in names)):
        check_policy(await site.get(path))
    page = (await site.get("/console")).body.decode()
    assert f'src="/console/{module}"' in page and f"<title>{title}</title>" in page and "$" not in page
    for path in ("/console/app.html", "/console/../settings.py", "/console/nothing.js"):
        assert (await site.get(path)).status == 404
    for path in (*reference, "/console"):
        assert (await site.post(path)).status == 405


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        ({b"host": b"127.8.8.8:8080"}, False),
        ({b"host": b"[::1]:8080"}, False),
        ({b"host": b"LOCALHOST"}, False),
        ({b"host": b"10.0.0.1"}, True),
        ({b"host": b"[::2]:1"}, True),
        ({b"host": b"localhost.example.com"}, True),
        ({b"host": b"127.0.0.1.example.com"}, True),
        ({}, True),
        # A proxy that terminates TLS and changes the host.
        ({b"host": b"127.0.0.1:8080", b"origin": b"https://api.example.com"}, True),
        ({b"host": b"gateway", b"origin": b"http://localhost:8080"}, False),
        ({b"host": b"127.0.0.1", b"origin": b"null"}, True),
    ],
)
def test_only_loopback_goes_without_secure(headers: dict[bytes, bytes], secure: bool) -> None:
    """It is an address and not a beginning. Origin takes precedence over Host."""
    assert needs_secure(headers) is secure


def test_a_cookie_is_found_by_its_whole_name() -> None:
    """Among others, and when a proxy splits them over lines."""
    lines = [(b"cookie", b"x=1; not_studio_console=2"), (b"cookie", b"studio_console=3;y=4")]
    assert cookie_of(lines, "studio_console") == "3"
    assert cookie_of(lines[:1], "studio_console") is None
