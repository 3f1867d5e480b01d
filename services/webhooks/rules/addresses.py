"""Addresses that webhooks are never sent to.

`ipaddress.is_global` is not enough: on Python 3.11 it accepts NAT64, 6to4 and Teredo forms of private
addresses, site-local and multicast. Hence this list. IPv6 ranges that embed an IPv4 address are refused.
"""

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

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
