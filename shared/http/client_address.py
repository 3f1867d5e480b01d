"""The client's address: the socket's peer, or the address that a trusted proxy forwards."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Literal

# Longer headers are not cached, so that an attacker cannot fill the memory with them.
LONGEST_KEPT = 256
ForwardedHeader = Literal["x-forwarded-for", "forwarded"]


class TrustedProxies:
    """Networks whose forwarding header we trust. From anyone else we ignore it: it could name any address."""

    def __init__(self, networks: Sequence[str] = (), header: ForwardedHeader = "x-forwarded-for") -> None:
        self._networks = tuple(ip_network(text, strict=False) for text in networks)
        self._header = header.encode()
        self._read = _forwarded if header == "forwarded" else _x_forwarded_for
        self.trusts = lru_cache(maxsize=4096)(self._trusts)
        # Partners repeat the same header: parsing it each time took 3 % of the gateway's time for a request.
        self._named = lru_cache(maxsize=4096)(self._nearest)

    def client_of(self, peer: str, headers: Mapping[bytes, bytes]) -> str:
        """The rightmost address that is not a trusted proxy's. What is to its left can be forged."""
        if not self._networks or not self.trusts(peer):
            return peer
        said = headers.get(self._header, b"")
        return self._named(peer, said) if len(said) <= LONGEST_KEPT else self._nearest(peer, said)

    def _nearest(self, peer: str, said: bytes) -> str:
        nearest = peer
        for named in reversed(self._read(said.decode("latin-1"))):
            address = _address(named)
            if address is None:
                return nearest
            nearest = address
            if not self.trusts(address):
                return nearest
        return nearest

    def _trusts(self, address: str) -> bool:
        plain = _address(address)
        return plain is not None and any(ip_address(plain) in network for network in self._networks)


def address_of(scope: Any, headers: Mapping[bytes, bytes], proxies: TrustedProxies) -> str:
    """The key for limits per address, for this request."""
    client = scope.get("client")
    return network_of(proxies.client_of(str(client[0]), headers)) if client else ""


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The key for limits per address: an IPv4 address, or an IPv6 /64, which a single host usually owns."""
    plain = _address(address)
    if plain is None or ":" not in plain:
        return plain or address
    return str(IPv6Network((IPv6Address(plain), 64), strict=False))


def _x_forwarded_for(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []


def _forwarded(text: str) -> list[str]:
    """RFC 7239: `for=192.0.2.60;proto=https, for="[2001:db8::1]:4711"`."""
    found = []
    for hop in text.split(",") if text else ():
        pairs = (pair.strip().partition("=") for pair in hop.split(";"))
        found.append(next((value.strip('"') for name, _, value in pairs if name.lower() == "for"), ""))
    return found


def _address(text: str) -> str | None:
    """Without brackets, port and zone; IPv4-mapped IPv6 as IPv4. None if it is not an address."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)
