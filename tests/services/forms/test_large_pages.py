"""Lists of large rows end early, and nothing is lost between the pages."""

from shared.http.pages import MAX_PAGE_BYTES
from tests.services.forms.studio_client import StudioClient, field

ROWS = 14


async def test_a_page_of_large_submissions_ends_early_with_an_exact_cursor(studio: StudioClient) -> None:
    """A page was bounded by rows only: 200 submissions of 245 KB made an answer of 49 MB."""
    form = await studio.form(*(field(f"story{number}", "textarea") for number in range(10)))
    for number in range(ROWS):
        answers = {f"story{part}": "x" * 10_000 for part in range(10)}
        sent = await studio.submit(form, answers, f"a{number}@example.com")
        assert sent.status == 201, sent.json
    seen: list[str] = []
    cursor = ""
    while True:
        answer = await studio.get(f"/forms/{form['id']}/submissions?limit=200{cursor}")
        assert len(answer.body) < MAX_PAGE_BYTES + 2_000
        page = answer.json
        seen += [row["submitter_email"] for row in page["data"]]
        if not page["has_more"]:
            break
        assert page["next_cursor"] == page["data"][-1]["id"]
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == [f"a{number}@example.com" for number in range(ROWS)]
