"""Classes and bookings as most people write them: FastAPI, SQLAlchemy, pydantic; no gateway, no limits."""

import hashlib
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Depends, FastAPI, Header, HTTPException
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

from bench.peers.models import (
    BookingIn,
    BookingOut,
    BookingRow,
    ClassOut,
    ClassRow,
    KeyRow,
    MemberRow,
    OutboxRow,
    Page,
)

URL = os.environ["PEER_DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://")
engine = create_async_engine(
    URL, pool_size=32, max_overflow=0, connect_args={"server_settings": {"search_path": "bookings"}}
)
new_session = async_sessionmaker(engine, expire_on_commit=False)
app = FastAPI()


async def session() -> AsyncIterator[AsyncSession]:
    async with new_session() as opened:
        yield opened


def studio(x_service_key: Annotated[str, Header()]) -> UUID:
    """In this peer a studio's id is its key."""
    return UUID(x_service_key)


Session = Annotated[AsyncSession, Depends(session)]
Studio = Annotated[UUID, Depends(studio)]


@app.get("/ready")
async def ready() -> dict[str, str]:
    return {"status": "ready"}


@app.get("/classes")
async def list_classes(db: Session, studio_id: Studio, limit: int = 50) -> Page:
    statement = (
        select(ClassRow)
        .where(ClassRow.studio_id == studio_id)
        .order_by(ClassRow.start_time, ClassRow.id)
        .limit(limit + 1)
    )
    rows = (await db.scalars(statement)).all()
    shown = [ClassOut.model_validate(row) for row in rows[:limit]]
    more = len(rows) > limit
    return Page(data=shown, has_more=more, next_cursor=shown[-1].id if more else None)


@app.post("/bookings", status_code=201)
async def create_booking(
    db: Session, studio_id: Studio, body: BookingIn, idempotency_key: Annotated[str, Header()]
) -> BookingOut:
    async with db.begin():
        if await db.get(KeyRow, (studio_id, "peer", idempotency_key)) is not None:
            raise HTTPException(409, "replay")
        class_ = await db.get(ClassRow, (studio_id, body.class_id), with_for_update={"key_share": True})
        member = await db.get(MemberRow, (studio_id, body.member_id))
        if class_ is None or member is None:
            raise HTTPException(404)
        live = select(BookingRow.id).where(
            BookingRow.studio_id == studio_id,
            BookingRow.class_id == body.class_id,
            BookingRow.member_id == body.member_id,
            BookingRow.status.in_(["confirmed", "checked_in", "waitlisted"]),
        )
        if member.suspended or class_.available_count == 0 or await db.scalar(live) is not None:
            raise HTTPException(409)
        now = datetime.now(UTC)
        booking = BookingRow(
            studio_id=studio_id,
            class_id=body.class_id,
            member_id=body.member_id,
            location_id=class_.location_id,
            status="confirmed",
            booking_source="peer",
            created_at=now,
            updated_at=now,
        )
        class_.booked_count += 1
        class_.version += 1
        db.add(booking)
        await db.flush()
        response = BookingOut.model_validate(booking)
        text = response.model_dump_json().encode()
        # Of its one studio, so one partition.
        db.add(OutboxRow(partition=0, studio_id=studio_id, type="booking.created", envelope=text * 2))
        db.add(
            KeyRow(
                studio_id=studio_id,
                client_id="peer",
                key=idempotency_key,
                route="POST /bookings",
                fingerprint=hashlib.sha256(body.model_dump_json().encode()).digest(),
                http_status=201,
                body=text,
                resource_id=booking.id,
                expires_at=now + timedelta(hours=24),
            )
        )
    return response
