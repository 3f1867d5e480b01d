"""Which URLs an endpoint may have, and addresses that webhooks are never sent to.

The SSRF guard enforces it; the rules for URLs report problems early. `ipaddress.is_global` is not enough: on
Python 3.11 it accepts NAT64, 6to4 and Teredo forms of private addresses, site-local and multicast. Hence the
list. IPv6 ranges that embed an IPv4 address are refused.
"""

import re
import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from msgspec import Struct
from yarl import URL

FORBIDDEN_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, cloud metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "168.63.129.16/32",  # a cloud's host agent on a public address
    )
)
# Only global unicast IPv6 is allowed, except for these ranges inside it.
PUBLIC_6 = IPv6Network("2000::/3")
FORBIDDEN_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # Teredo, ORCHID and other special forms
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: wraps any IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",  # documentation
    )
)


def is_forbidden(text: str) -> bool:
    """Whether nothing may be sent to this address. Text that is not an address is forbidden too."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return True
    if isinstance(address, IPv4Address):
        return any(address in network for network in FORBIDDEN_4)
    return _is_forbidden_6(address)


def _is_forbidden_6(address: IPv6Address) -> bool:
    # Mapped, compatible, NAT64, link-local, unique-local, multicast and loopback all lie outside 2000::/3.
    return address not in PUBLIC_6 or any(address in network for network in FORBIDDEN_6)


def literal_address(host: str) -> str | None:
    """The address that a host spells, including forms like `127.1`, `0x7f000001` and `2130706433`."""
    text = host.strip("[]").rstrip(".")
    try:
        return str(ip_address(text.partition("%")[0]))
    except ValueError:
        pass
    try:
        return str(IPv4Address(socket.inet_aton(text)))
    except (OSError, ValueError, UnicodeEncodeError):
        return None


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
