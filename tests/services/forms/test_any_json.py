"""Any JSON sent to any write gets a documented answer, never a 500."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.wire import new_id
from tests.services.forms.studio_client import StudioClient, field

TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
USUAL = st.sampled_from(
    ["a", "text", "number", "select", "eq", "gt", "new", "a@b.example", "2026-08-02", 1, True]
)
RULE = st.dictionaries(st.sampled_from(["field_key", "op", "value"]), USUAL | JSON, min_size=2)
PROPERTIES = ("required", "options", "order", "accept", "max_file_size", "min", "max", "x")
FIELD = st.fixed_dictionaries(
    {"key": st.just("a") | TEXT, "label": TEXT, "type": USUAL},
    optional=dict.fromkeys(PROPERTIES, USUAL | JSON) | {"display_when": RULE | JSON},
)
SETTING_NAMES = ["closes_at", "max_submissions", "one_submission_per_email", "notification_emails", "x"]
SETTINGS = st.dictionaries(st.sampled_from(SETTING_NAMES), USUAL | JSON)
FORM = {"fields": st.lists(FIELD, max_size=4), "settings": SETTINGS, "title": TEXT, "description": TEXT}
STATUS = st.sampled_from(["archived", "draft", "published"])
ANSWERS = st.dictionaries(st.sampled_from(["a", "n", "z"]) | TEXT, USUAL | JSON | st.lists(TEXT))
PERSON = {"first_name": TEXT, "email": USUAL, "metadata": st.dictionaries(TEXT, JSON)}

# What is sent to each route. Each part is either plausible or arbitrary JSON.
WRITES: dict[tuple[str, str], dict[str, st.SearchStrategy[Any]]] = {
    ("POST", "/forms"): FORM | {"slug": USUAL, "status": USUAL},
    ("PUT", "/forms/{form}"): FORM
    | {"slug": USUAL, "status": st.sampled_from(["archived", "draft", "published"])},
    ("POST", "/forms/{form}/evaluate"): {"data": ANSWERS},
    ("POST", "/forms/{form}/submissions"): {
        "submitter_email": USUAL,
        "data": ANSWERS,
        "submitter_name": TEXT,
    },
    ("POST", "/leads"): PERSON | {"source": TEXT, "utm_source": TEXT},
    ("PATCH", "/leads/{lead}"): PERSON | {"phone": TEXT, "notes": TEXT, "status": USUAL},
}


@st.composite
def writes(draw: st.DrawFn) -> tuple[str, str, Any]:
    method, path = draw(st.sampled_from(sorted(WRITES)))
    if draw(st.integers(0, 9)) == 0:
        return method, path, draw(JSON)
    parts = WRITES[method, path]
    sound = draw(st.booleans())
    return (
        method,
        path,
        draw(
            st.fixed_dictionaries(
                {}, optional={name: part if sound else part | JSON for name, part in parts.items()}
            )
        ),
    )


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(write=writes())
async def test_any_json_is_answered_as_promised(studio: StudioClient, write: tuple[str, str, Any]) -> None:
    """200, 201, 409 or 422, whatever is sent; and what was kept can be read again."""
    method, path, body = write
    form = await studio.form(field("a"), field("n", "number"), slug=f"f-{new_id()}")
    lead = (await studio.post("/leads", {"email": "ann@example.com"})).json
    reply = await studio.call(method, path.format(form=form["id"], lead=lead["id"]), body)
    assert reply.status in (200, 201, 409, 422), reply.body
    for shown in (f"/forms/{form['id']}", f"/forms/{form['id']}/submissions", f"/leads/{lead['id']}"):
        assert (await studio.get(shown)).status == 200
