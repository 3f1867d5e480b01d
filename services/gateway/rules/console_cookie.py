"""The cookie of a console: when it is accepted, and its attributes.

A browser also sends cookies with requests that other sites trigger. So the cookie is accepted only with a
header that no other site can add: the browser would send a CORS preflight first, and this API allows no
origin.
"""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

PARTNER_COOKIE: Final = "studio_console"
OPERATOR_COOKIE: Final = "studio_operator"
PAGE_HEADER: Final = b"x-studio-console"
FETCH_SITE: Final = b"sec-fetch-site"


def sent_by_page(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the console's own page sent this request. Old browsers do not send `Sec-Fetch-Site`."""
    return headers.get(PAGE_HEADER) == b"1" and headers.get(FETCH_SITE, b"same-origin") == b"same-origin"


def cookie_of(headers: Iterable[tuple[bytes, bytes]], name: str) -> str | None:
    """A proxy that speaks HTTP/2 to browsers may pass on cookies in several lines."""
    start = name.encode() + b"="
    for header, value in headers:
        if header == b"cookie":
            for part in value.split(b";"):
                if (part := part.strip()).startswith(start):
                    return part[len(start) :].decode("latin-1")
    return None


def set_cookie(name: str, value: str, *, seconds: int, secure: bool) -> tuple[bytes, bytes]:
    text = f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict"
    return b"set-cookie", (text + ("; Secure" if secure else "")).encode()


def needs_secure(headers: Mapping[bytes, bytes]) -> bool:
    """True except on loopback. `Origin` takes precedence: a proxy may have changed `Host`."""
    origin = headers.get(b"origin")
    if origin is not None:
        parts = urlsplit(origin.decode("latin-1"))
        return not (parts.scheme == "http" and is_loopback(parts.netloc))
    return not is_loopback(headers.get(b"host", b"").decode("latin-1"))


def origin_for(host: str) -> str:
    """The URL at which a browser reaches us, if it is not configured. Plain HTTP only on loopback."""
    return f"{'http' if is_loopback(host) else 'https'}://{host}"


def is_loopback(host: str) -> bool:
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
