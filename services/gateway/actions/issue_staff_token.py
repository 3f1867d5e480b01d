"""Issue a staff token for a studio. The token is returned once and never stored."""

import msgspec

from services.gateway.context import OperatorContext
from services.gateway.rules.key_text import hash_secret, make_staff_token
from services.gateway.store import staff_tokens
from services.gateway.wire.key import IssuedStaffToken, StaffTokenCreate


async def issue_staff_token(
    context: OperatorContext, studio_id: str, wanted: StaffTokenCreate
) -> IssuedStaffToken:
    new = make_staff_token()
    async with context.db.transaction() as conn:
        token = await staff_tokens.add(
            conn,
            studio_id,
            new,
            name=wanted.name,
            role=wanted.role,
            secret_hash=hash_secret(context.peppers[0], new.secret),
        )
    return IssuedStaffToken(**msgspec.structs.asdict(token), token=new.text)
