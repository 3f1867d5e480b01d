"""The consoles' cookie: when it is accepted, and when it has no Secure attribute."""

import pytest

from services.gateway.rules.console_cookie import cookie_of, is_loopback, needs_secure, sent_by_page


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        ({b"host": b"127.0.0.1:8080"}, False),
        ({b"host": b"[::1]:8080"}, False),
        ({b"host": b"localhost"}, False),
        ({b"host": b"localhost.example.com"}, True),
        ({b"host": b"127.0.0.1.example.com"}, True),
        ({}, True),
        # A proxy that terminates TLS and changes the host.
        ({b"host": b"127.0.0.1:8080", b"origin": b"https://api.example.com"}, True),
        ({b"host": b"gateway", b"origin": b"http://localhost:8080"}, False),
        ({b"host": b"127.0.0.1", b"origin": b"null"}, True),
    ],
    ids=["ipv4", "ipv6", "name", "lookalike", "lookalike-ip", "none", "proxy", "renamed", "opaque"],
)
def test_only_loopback_goes_without_secure(headers: dict[bytes, bytes], secure: bool) -> None:
    """Origin takes precedence over Host."""
    assert needs_secure(headers) is secure


def test_loopback_is_an_address_and_not_a_beginning() -> None:
    """A text that is not a host is not loopback either."""
    assert all(is_loopback(host) for host in ("127.8.8.8:1", "LOCALHOST:80", "[::1"))
    assert not any(is_loopback(host) for host in ("10.0.0.1", "", "[::2]:1"))


def test_a_cookie_is_found_by_its_whole_name() -> None:
    """Among others, and when HTTP/2 splits them over lines."""
    lines = [(b"cookie", b"x=1; not_studio_console=2"), (b"cookie", b"studio_console=3;y=4")]
    assert cookie_of(lines, "studio_console") == "3"
    assert cookie_of(lines[:1], "studio_console") is None


def test_only_the_own_page_counts() -> None:
    """It needs the header, and a browser that does not mark the request as cross-site."""
    own = {b"x-studio-console": b"1"}
    assert sent_by_page(own) and sent_by_page(own | {b"sec-fetch-site": b"same-origin"})
    for other in ({}, {b"x-studio-console": b"0"}, own | {b"sec-fetch-site": b"cross-site"}):
        assert not sent_by_page(other)
    assert not sent_by_page(own | {b"sec-fetch-site": b"same-site"})
