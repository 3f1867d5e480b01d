"""Which URLs an endpoint may have. The SSRF guard enforces it; this reports problems early."""

import re
from collections.abc import Collection

from msgspec import Struct
from yarl import URL

from services.webhooks.rules.addresses import is_forbidden, literal_address

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_LENGTH = 2048
MAX_NAME_LENGTH = 253
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)


class UrlPolicy(Struct, frozen=True):
    """What an operator allows for development: plain http, and hosts that skip the address check."""

    allow_http: bool = False
    allow_hosts: Collection[str] = frozenset()
    # Under `studioctl up`: the machine's own receivers, over plain http as well.
    loopback_http: bool = False

    def skips_address_check(self, url: URL) -> bool:
        """Uses the parser of the library that connects: a different one could see a different host."""
        host = url.raw_host or ""
        spellings = {host, f"[{host}]", f"{host}:{url.port}", f"[{host}]:{url.port}"}
        return not spellings.isdisjoint(self.allow_hosts) or self._is_own(url)

    def allows_http(self, url: URL) -> bool:
        return self.allow_http or self._is_own(url)

    def _is_own(self, url: URL) -> bool:
        return self.loopback_http and url.raw_host in LOOPBACK


def url_problem(text: str, policy: UrlPolicy) -> str | None:
    """None if the URL may be used, else an error message."""
    if len(text) > MAX_LENGTH:
        return f"A URL has at most {MAX_LENGTH} characters."
    if not text.isprintable() or " " in text or "\\" in text:
        return "A URL cannot contain spaces, backslashes or control characters."
    try:
        url = URL(text)
        port = url.port
    except ValueError:
        return "This is not a valid URL."
    if url.scheme == "http" and not policy.allows_http(url):
        return "Only https URLs are supported; an operator allows http with STUDIO_WEBHOOK_ALLOW_HTTP."
    if url.scheme not in ("https", "http"):
        return "Only https URLs are supported."
    if url.raw_user is not None or url.raw_password is not None or "@" in authority_of(text):
        return "A URL cannot contain a user name or password."
    if not url.raw_host or port == 0:
        return "A URL needs a host."
    if "%" in authority_of(text) or not is_host(url.raw_host):
        return "This is not a valid host name."
    if url.raw_fragment:
        return "A URL cannot contain a fragment."
    address = literal_address(url.raw_host)
    if address is not None and is_forbidden(address) and not policy.skips_address_check(url):
        return (
            "Webhooks are not sent to private, local or reserved addresses, "
            "except to hosts that an operator names in STUDIO_WEBHOOK_ALLOW_HOSTS."
        )
    return None


def authority_of(text: str) -> str:
    """Host and port as written. Parsing drops an empty user and decodes percent signs."""
    return re.split(r"[/?#]", text.partition("//")[2], maxsplit=1)[0]


def is_host(host: str) -> bool:
    """An address, or labels of letters, digits, `-` and `_`. A trailing dot is allowed."""
    if literal_address(host) is not None:
        return True
    name = host.removesuffix(".")
    return len(name) <= MAX_NAME_LENGTH and all(map(LABEL.fullmatch, name.split(".")))
