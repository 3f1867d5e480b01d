"""Who calls: the signed caller, which each service verifies itself, and the address behind a proxy."""

import time

import pytest
from msgspec.structs import replace

from shared.errors import Unauthenticated
from shared.http.caller import CALLER_HEADER, LIFETIME_SECONDS, Caller, CallerSigner, CallerVerifier
from shared.http.client_address import ForwardedHeader, TrustedProxies, network_of
from shared.settings import read_settings

CALLER = Caller(
    studio_id="s", client_id="c", key_id="k", scopes=frozenset({"a:read", "b:read"}), location_ids=("l",)
)


def verify(header: bytes | None, *keys: str) -> Caller:
    headers = {CALLER_HEADER: header} if header is not None else {}
    return CallerVerifier(keys).verify(headers, "r")


def test_a_caller_survives_the_hop_and_the_key_can_be_rotated() -> None:
    """Every field is signed. A service with both keys accepts either, one with the old one only the old."""
    signed = CallerSigner(("new", "old")).sign(CALLER)
    assert verify(signed, "old", "new") == replace(CALLER, request_id="r")
    with pytest.raises(Unauthenticated):
        verify(signed, "old")


@pytest.mark.parametrize("change", [b"x", b"", None])
def test_what_is_forged_or_missing_is_refused(change: bytes | None) -> None:
    """A changed header, an empty one and none at all."""
    header = CallerSigner(("key",)).sign(CALLER)
    with pytest.raises(Unauthenticated):
        verify(None if change is None else change + header[:-2] if change else change, "key")


def test_a_caller_lives_shortly_also_once_it_was_seen() -> None:
    """A cached header expires like any other."""
    verifier = CallerVerifier(("key",))
    headers = {CALLER_HEADER: CallerSigner(("key",)).sign(CALLER, at=time.time() - LIFETIME_SECONDS + 1)}
    verifier.verify(headers, "r")
    while True:
        try:
            verifier.verify(headers, "r")
        except Unauthenticated as problem:
            assert "expired" in problem.text
            return


def test_a_limited_caller_sees_its_own_locations_only() -> None:
    """What has no location is hidden from a limited key and seen by all others."""
    assert CALLER.may_see("l")
    assert not CALLER.may_see("m")
    assert not CALLER.may_see(None)
    assert Caller(studio_id="s").may_see(None)


def test_a_services_key_signs_for_no_other_service() -> None:
    """A leaked key of one service is useless at another: only the gateway has them all."""
    settings = read_settings(
        {"STUDIO_CALLER_KEY_BOOKINGS": "b" * 32, "STUDIO_CALLER_KEY_CATALOG": "c" * 32, "STUDIO_HOME": "."}
    )
    signers = {name: CallerSigner(settings.caller_keys_of(name)) for name in ("bookings", "catalog")}
    bookings = CallerVerifier(read_settings({"STUDIO_CALLER_KEY": "b" * 32}).caller_keys_of("bookings"))
    right = {CALLER_HEADER: signers["bookings"].sign(CALLER)}
    assert bookings.verify(right, "r").studio_id == CALLER.studio_id
    with pytest.raises(Unauthenticated):
        bookings.verify({CALLER_HEADER: signers["catalog"].sign(CALLER)}, "r")


def test_the_gateway_needs_a_key_for_every_service() -> None:
    """One for all, or one for each: with one missing it does not start."""
    each = {f"STUDIO_CALLER_KEY_{name}": name for name in ("CATALOG", "BOOKINGS", "FORMS", "WEBHOOKS")}
    known = {"STUDIO_KEY_PEPPER": "p", "STUDIO_OPERATOR_TOKEN": "t"}
    assert read_settings(known | each).missing_secrets("gateway") == []
    assert read_settings(known | {"STUDIO_CALLER_KEY": "k"}).missing_secrets("gateway") == []
    del each["STUDIO_CALLER_KEY_FORMS"]
    assert read_settings(known | each).missing_secrets("gateway") == ["STUDIO_CALLER_KEY"]


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
    assert TrustedProxies().client_of(INGRESS, headers) == INGRESS, "nobody is trusted unless it is said"


def test_an_ipv6_host_counts_as_its_network() -> None:
    """A host has 2^64 addresses to guess from."""
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:1::1")
    assert network_of("203.0.113.9") == "203.0.113.9" != network_of("203.0.113.8")
