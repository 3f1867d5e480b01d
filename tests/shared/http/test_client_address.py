"""The client's address is the peer's, unless a trusted proxy forwards another."""

import pytest

from shared.http.client_address import ForwardedHeader, TrustedProxies, network_of
from shared.settings import SettingsProblem, read_settings

INGRESS, PARTNER, OTHER = "10.0.3.7", "203.0.113.9", "198.51.100.4"


@pytest.mark.parametrize(
    ("peer", "said", "client"),
    [
        (PARTNER, OTHER, PARTNER),  # anybody can write the header
        (INGRESS, PARTNER, PARTNER),
        (INGRESS, f"{OTHER}, {PARTNER}", PARTNER),  # what the partner wrote itself is further left
        (INGRESS, f"{OTHER}, {PARTNER}, 10.0.9.9", PARTNER),  # through two proxies of ours
        (INGRESS, "", INGRESS),
        (INGRESS, "unknown", INGRESS),
        (INGRESS, f"{PARTNER}:4711", PARTNER),
        (INGRESS, "[2001:db8::1]:4711", "2001:db8::1"),
        (INGRESS, "::ffff:203.0.113.9", PARTNER),
        (f"::ffff:{INGRESS}", PARTNER, PARTNER),
    ],
)
def test_only_a_trusted_proxy_names_the_client(peer: str, said: str, client: str) -> None:
    """The nearest address that is not one of our proxies."""
    proxies = TrustedProxies(["10.0.0.0/8"])
    assert proxies.client_of(peer, {b"x-forwarded-for": said.encode()}) == client


@pytest.mark.parametrize(
    ("header", "client"),
    [("forwarded", PARTNER), ("x-forwarded-for", OTHER)],
)
def test_one_header_counts(header: ForwardedHeader, client: str) -> None:
    """A proxy sets one header and may pass on the other as the client wrote it."""
    proxies = TrustedProxies([INGRESS], header)
    headers = {
        b"forwarded": f'for={OTHER};proto=http, for="{PARTNER}:80";by={INGRESS}'.encode(),
        b"x-forwarded-for": OTHER.encode(),
    }
    assert proxies.client_of(INGRESS, headers) == client


def test_nobody_is_trusted_unless_it_is_said() -> None:
    """The setting must be a list of networks."""
    assert TrustedProxies().client_of(INGRESS, {b"x-forwarded-for": PARTNER.encode()}) == INGRESS
    with pytest.raises(SettingsProblem, match="STUDIO_TRUSTED_PROXIES"):
        read_settings({"STUDIO_TRUSTED_PROXIES": "10.0.0.0/8, the ingress"})


def test_an_ipv6_host_counts_as_its_network() -> None:
    """A host has 2^64 addresses to guess from."""
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:1::1")
    assert network_of("203.0.113.9") == "203.0.113.9" != network_of("203.0.113.8")
