"""The gateway's domain errors."""

from shared.errors import Conflict, Unauthenticated


class MissingKey(Unauthenticated):
    code = "missing_api_key"
    message = "Send the key in the header X-Service-Key."


class InvalidKey(Unauthenticated):
    code = "invalid_api_key"
    message = "The key is not valid."


class ExpiredKey(Unauthenticated):
    code = "api_key_expired"
    message = "The key has expired."


class RevokedKey(Unauthenticated):
    code = "api_key_revoked"
    message = "The key has been revoked."


class BadOperatorToken(Unauthenticated):
    code = "invalid_operator_token"
    message = "Send the operator token as Authorization: Bearer …"

    def __init__(self) -> None:
        super().__init__(headers=[(b"www-authenticate", b'Bearer realm="studio-operators"')])


class KeyNotLive(Conflict):
    code = "key_not_live"
    message = "The key is revoked or expired, so it cannot be rotated; create a new one."


class StudioExists(Conflict):
    code = "studio_exists"
    message = "A studio with this id already exists; import its line to change it."


class SlugTaken(Conflict):
    code = "slug_taken"
    message = "Another studio already has this slug."
