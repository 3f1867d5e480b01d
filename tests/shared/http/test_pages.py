"""A page ends at its limit of rows or of bytes, and the next one begins exactly there."""

import pytest

from shared.http.pages import (
    MAX_PAGE_BYTES,
    JsonRows,
    fetch_by_size,
    json_page_of,
    page_of,
    short_page,
)
from shared.wire import Resource, encode, new_id


class Row(Resource, kw_only=True):
    id: str
    text: str


def rows_of(*sizes: int) -> list[Row]:
    return [Row(id=new_id(), text="x" * size) for size in sizes]


HALF = MAX_PAGE_BYTES // 2
PAGES = [
    ([10] * 60, 50, [50, 10]),
    ([10] * 50, 50, [50]),
    ([HALF + 1] * 5, 50, [1, 1, 1, 1, 1]),
    ([HALF - 500] * 5, 50, [2, 2, 1]),
    ([MAX_PAGE_BYTES * 2, 10, 10], 50, [1, 2]),
    ([10, 10, MAX_PAGE_BYTES * 2], 50, [2, 1]),
    ([MAX_PAGE_BYTES * 2], 50, [1]),
    ([10] * 16 + [HALF] * 40 + [10] * 5, 200, None),
    ([], 50, [0]),
]


@pytest.mark.parametrize(("sizes", "limit", "expected"), PAGES)
async def test_pages_show_every_row_once(sizes: list[int], limit: int, expected: list[int] | None) -> None:
    """Whatever the sizes: no row is left out or shown twice, and `has_more` is true only if more comes."""
    rows = rows_of(*sizes)
    fetched = 0

    async def fetch(after: int, count: int) -> list[tuple[int, Row]]:
        nonlocal fetched
        fetched = max(fetched, sum(len(row.text) for row in rows[after : after + count]))
        return list(enumerate(rows))[after : after + count]

    shown: list[Row] = []
    pages: list[int] = []
    more, after = True, 0
    while more:
        found, more = await fetch_by_size(
            fetch, after, limit, place_of=lambda row: row[0] + 1, size_of=lambda row: len(row[1].text)
        )
        shown += [row for _, row in found]
        pages.append(len(found))
        assert found or not more
        if found:
            after = found[-1][0] + 1
    assert shown == rows
    assert expected is None or pages == expected
    # Never all 200 rows at once.
    assert fetched <= 34 * max([*sizes, 0])


OVERHEAD = len(encode(rows_of(0)[0]))
# The last three end exactly at the limit, one byte before it and one after it.
SIZES = [sizes for sizes, _, _ in PAGES] + [[HALF, HALF - OVERHEAD * 2 - 1 + more, 10] for more in (0, -1, 1)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("limit", [1, 2, 50])
def test_a_page_of_encoded_rows_has_the_bytes_of_a_page_of_structs(sizes: list[int], limit: int) -> None:
    """Cut by number or by size, with texts that look like the beginning of a row."""
    rows = rows_of(*sizes)
    for row in rows[::2]:
        row.text = ',{"id":"' + row.text[8:] if len(row.text) > 100 else ',{"id":"é\\"'
    found = rows[: limit + 1]
    encoded = JsonRows(b",".join(map(encode, found)), len(found))
    assert json_page_of(encoded, limit) == encode(short_page(page_of(found, limit)))
