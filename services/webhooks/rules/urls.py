"""Which URLs an endpoint may have. The socket guard is the fence; this says early what it would refuse."""

import re
from collections.abc import Collection

from msgspec import Struct
from yarl import URL

from services.webhooks.rules.addresses import is_forbidden, literal_address

MAX_LENGTH = 2048
MAX_NAME_LENGTH = 253
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)


class UrlPolicy(Struct, frozen=True):
    """What an operator allows for development: plain http, and host texts that skip the address check."""

    allow_http: bool = False
    allow_hosts: Collection[str] = frozenset()

    def skips_address_check(self, url: URL) -> bool:
        """Parsed by the library that connects: a second parser could be talked into another host."""
        host = url.raw_host or ""
        spellings = {host, f"[{host}]", f"{host}:{url.port}", f"[{host}]:{url.port}"}
        return not spellings.isdisjoint(self.allow_hosts)


def url_problem(text: str, policy: UrlPolicy) -> str | None:
    """None for a URL that may be used, else a sentence."""
    if len(text) > MAX_LENGTH:
        return f"A URL has at most {MAX_LENGTH} characters."
    if not text.isprintable() or " " in text or "\\" in text:
        return "A URL holds no spaces, backslashes or control characters."
    try:
        url = URL(text)
        port = url.port
    except ValueError:
        return "This is not a URL."
    schemes = ("https", "http") if policy.allow_http else ("https",)
    if url.scheme not in schemes:
        return f"Only {' and '.join(schemes)} URLs can be delivered to."
    if url.raw_user is not None or url.raw_password is not None or "@" in authority_of(text):
        return "A URL must not hold user info."
    if not url.raw_host or port == 0:
        return "A URL needs a host."
    if "%" in authority_of(text) or not is_host(url.raw_host):
        return "This is not a host name."
    if url.raw_fragment:
        return "A URL must not hold a fragment."
    address = literal_address(url.raw_host)
    if address is not None and is_forbidden(address) and not policy.skips_address_check(url):
        return "Nothing is delivered to private, local or reserved addresses."
    return None


def authority_of(text: str) -> str:
    """Host and port as they were written: parsing drops an empty user and unpacks percent signs."""
    return re.split(r"[/?#]", text.partition("//")[2], maxsplit=1)[0]


def is_host(host: str) -> bool:
    """An address, or labels of letters, digits, `-` and `_`; the root's dot may end it."""
    if literal_address(host) is not None:
        return True
    name = host.removesuffix(".")
    return len(name) <= MAX_NAME_LENGTH and all(map(LABEL.fullmatch, name.split(".")))
