"""A form's slug from its title."""

import re
import unicodedata

MAX_SLUG_LENGTH = 80

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def slug_of(title: str, form_id: str) -> str:
    """Accents are dropped. A title in another script gets `form-` and the start of the form's id."""
    folded = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    slug = _NOT_SLUG.sub("-", folded).strip("-")[:MAX_SLUG_LENGTH].strip("-")
    return slug or f"form-{form_id[:8]}"
