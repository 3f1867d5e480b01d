"""Which texts are email addresses, and what that costs."""

import time

import pytest
from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.emails import normalize_email
from shared.wire import new_id

# The library takes 0.25 s for a thousand; the pattern for plain addresses a few milliseconds.
BUDGET = 0.1


def verdict_of_the_library(text: str) -> str | None:
    """Its normalized form of the address, or None."""
    try:
        checked = validate_email(text.strip(), check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return None
    domain = checked.ascii_domain
    return f"{checked.local_part}@{domain}".lower() if "." in domain else None


def verdict(text: str) -> str | None:
    try:
        return normalize_email(text)
    except ValueError:
        return None


LABELS = st.one_of(
    st.text("abzAZ09-", max_size=8),
    st.text("aZ0-ü中\u0301\u0130\u212a_.", max_size=8),
    st.sampled_from(
        [*SPECIAL_USE_DOMAIN_NAMES, "xn--bcher-kva", "ab--c", "a" * 63, "a" * 64, "com", "x1", "1"]
    ),
)
LOCAL_PARTS = st.one_of(
    st.text("aZ0.+_-!#$%&'*/=?^`{|}~", max_size=10), st.text(max_size=6), st.just("a" * 200), st.just("Info")
)
ADDRESSES = st.builds(
    lambda before, local, labels, after: f"{before}{local}@{'.'.join(labels)}{after}",
    st.sampled_from(["", " ", "\u2003", "@", "<", '"']),
    LOCAL_PARTS,
    st.lists(LABELS, max_size=5),
    st.sampled_from(["", " ", "\n", "\0", ">", "."]),
)


@settings(max_examples=400, deadline=None)
@given(ADDRESSES | st.text('aA@.-\u212a\u0301 "<>[]1', max_size=12))
@example("\u212a@b.example")
@example("a@" + "a." * 126 + "e")
@example("a@" + "a." * 125 + "ee")
@example("ü" * 121 + "@x.example")
@example("ü" * 122 + "@x.example")
def test_an_address_is_what_the_library_says(text: str) -> None:
    """The limit in front of the library and the pattern for plain addresses change no verdict and no form."""
    assert verdict(text) == verdict_of_the_library(text)


def test_a_label_that_is_too_long_is_refused_before_it_is_read() -> None:
    """118 combining marks took the library 5 ms, and a body holds a hundred such addresses."""
    text = f"a@e{chr(0x301) * 118}.example"
    started = time.process_time()
    for _ in range(100):
        with pytest.raises(ValueError, match="at most 63 characters"):
            normalize_email(text)
    assert time.process_time() - started < BUDGET


def test_what_an_erasure_leaves_is_an_address() -> None:
    """So that an export can be imported again. Any other address of the reserved domain is none."""
    left = f"erased-{new_id()}@erased.invalid"
    assert normalize_email(left) == left
    with pytest.raises(ValueError, match="reserved"):
        normalize_email("ada@erased.invalid")
