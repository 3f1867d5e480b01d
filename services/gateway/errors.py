"""The gateway's domain errors."""

from shared.errors import Conflict, Forbidden, Unauthenticated


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


class ConsoleLinkUsed(Unauthenticated):
    code = "console_link_invalid"
    message = "The link has already been used, has expired or is unknown; request a new one."


class ConsoleSessionEnded(Unauthenticated):
    code = "console_session_ended"
    message = "The session has ended; open the console with a new link."


class SessionCannotMakeSessions(Forbidden):
    code = "console_session_not_allowed"
    message = "A console session cannot create sessions; use the key itself, from a server."


class NotFromThePage(Forbidden):
    code = "not_from_the_console"
    message = "Only the console's own page may send this."


class ClientWithoutKey(Conflict):
    code = "client_without_key"
    message = "The client has no live key for a session."
