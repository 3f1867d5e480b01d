"""Who may do what in the operators' API. A higher role may do what a lower one may."""

from typing import Final, Literal

from shared.errors import Forbidden

Role = Literal["staff", "manager", "operator"]
ROLES: Final[tuple[Role, ...]] = ("staff", "manager", "operator")


class InsufficientRole(Forbidden):
    code = "insufficient_role"
    message = "The token's role does not allow this."

    def __init__(self, required: Role, held: Role) -> None:
        super().__init__(
            f"This needs the role {required}; the token has the role {held}.",
            details={"required_role": required, "role": held},
        )


def require_role(held: Role, required: Role) -> None:
    if ROLES.index(held) < ROLES.index(required):
        raise InsufficientRole(required, held)
