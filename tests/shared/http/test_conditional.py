"""Entity tags: equal for equal bodies, different for different ones, compared as RFC 9110 says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.http import response
from shared.http.response import Response, entity_tag, matches, with_entity_tag

TAGS = st.text(alphabet="0123456789abcdef", min_size=32, max_size=32).map(lambda text: f'"{text}"'.encode())
BODY = b'{"object":"list","data":[]}'


@given(st.lists(TAGS, max_size=8), TAGS, st.booleans(), st.booleans(), st.data())
def test_a_list_matches_exactly_when_it_names_the_tag(
    others: list[bytes], tag: bytes, weak: bool, lines: bool, data: st.DataObject
) -> None:
    """In any place of the list, weak or strong, on one header line or several."""
    named = data.draw(st.booleans())
    tags = list(others)
    if named:
        tags.insert(data.draw(st.integers(0, len(tags))), (b"W/" if weak else b"") + tag)
    values = tags if lines else [b", ".join(tags)]
    headers = [(b"accept", b"*"), *((b"if-none-match", value) for value in values)]
    assert matches(tag, headers) == (named or tag in others)


@pytest.mark.parametrize("value", [b"", b'""', b"W/", b"abc", b",,,", b'"*"', b"**", entity_tag(BODY)[1:-1]])
def test_what_is_no_matching_tag_gets_the_whole_answer(value: bytes) -> None:
    """An invalid header only costs bytes, never the response."""
    response = with_entity_tag(Response(BODY), [(b"if-none-match", value)])
    assert (response.status, response.body) == (200, BODY)


def test_tags_depend_on_the_secret_and_stay_the_same_with_it() -> None:
    """Without the secret nobody can make two bodies of the same tag; replicas and restarts agree."""
    before = entity_tag(BODY)
    seed = response._seed
    try:
        response.seed_tags("one")
        one = entity_tag(BODY)
        response.seed_tags("another")
        assert len({before, one, entity_tag(BODY)}) == 3
        response.seed_tags("one")
        assert entity_tag(BODY) == one
    finally:
        response._seed = seed
