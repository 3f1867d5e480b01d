"""`POST /operator/v1/sequences/advance`: run once after a restore, before partners come back."""

from services.gateway.actions.advance_sequences import advance_sequences
from services.gateway.context import OperatorContext
from services.gateway.wire.sequences import SequencesAdvance, SequencesAdvanced
from shared.http.routes import Call, Route


async def post_advance(context: OperatorContext, call: Call[None, SequencesAdvance]) -> SequencesAdvanced:
    studios = await advance_sequences(context, call.body.by, call.caller.request_id)
    return SequencesAdvanced(studios=studios, by=call.body.by)


ROUTES: list[Route[OperatorContext]] = [
    Route(
        method="POST",
        path="/operator/v1/sequences/advance",
        handler=post_advance,
        summary="Move every studio's sequences forward after a restore",
        body=SequencesAdvance,
        optional_body=True,
        answer=SequencesAdvanced,
    )
]
