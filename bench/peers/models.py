"""Our tables as SQLAlchemy models and pydantic schemas, for the peer."""

from datetime import datetime
from uuid import UUID, uuid4

from pydantic import BaseModel, ConfigDict
from sqlalchemy import BigInteger, DateTime, Identity, LargeBinary, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    type_annotation_map = {datetime: DateTime(timezone=True), bytes: LargeBinary}  # noqa: RUF012


class ClassRow(Base):
    __tablename__ = "classes"
    studio_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    title: Mapped[str]
    description: Mapped[str | None]
    class_type_id: Mapped[UUID | None]
    location_id: Mapped[UUID | None]
    room_id: Mapped[UUID | None]
    instructor_id: Mapped[UUID | None]
    start_time: Mapped[datetime]
    end_time: Mapped[datetime]
    capacity: Mapped[int]
    booked_count: Mapped[int]
    allow_waitlist: Mapped[bool]
    spot_selection_mode: Mapped[str | None]
    status: Mapped[str]
    visible: Mapped[bool]
    version: Mapped[int]

    @property
    def available_count(self) -> int:
        return max(0, self.capacity - self.booked_count)


class MemberRow(Base):
    __tablename__ = "members"
    studio_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True)
    suspended: Mapped[bool]


class BookingRow(Base):
    __tablename__ = "bookings"
    studio_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    class_id: Mapped[UUID]
    member_id: Mapped[UUID]
    location_id: Mapped[UUID | None]
    status: Mapped[str]
    booking_source: Mapped[str | None]
    class_spot_id: Mapped[UUID | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class OutboxRow(Base):
    __tablename__ = "outbox"
    partition: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    event_id: Mapped[UUID] = mapped_column(default=uuid4)
    studio_id: Mapped[UUID]
    type: Mapped[str]
    envelope: Mapped[bytes]


class KeyRow(Base):
    __tablename__ = "idempotency_keys"
    studio_id: Mapped[UUID] = mapped_column(primary_key=True)
    client_id: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    route: Mapped[str]
    fingerprint: Mapped[bytes]
    http_status: Mapped[int]
    body: Mapped[bytes]
    resource_id: Mapped[UUID | None]
    expires_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ClassOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: UUID
    object: str = "class"
    title: str
    description: str | None
    class_type_id: UUID | None
    location_id: UUID | None
    room_id: UUID | None
    instructor_id: UUID | None
    start_time: datetime
    end_time: datetime
    capacity: int
    booked_count: int
    available_count: int
    allow_waitlist: bool
    spot_selection_mode: str | None
    status: str
    visible: bool


class Page(BaseModel):
    object: str = "list"
    data: list[ClassOut]
    has_more: bool
    next_cursor: UUID | None


class BookingIn(BaseModel):
    class_id: UUID
    member_id: UUID
    join_waitlist: bool = False
    class_spot_id: UUID | None = None


class BookingOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: UUID
    object: str = "booking"
    class_id: UUID
    member_id: UUID
    status: str
    booking_source: str | None
    class_spot_id: UUID | None
    waitlist_position: int | None = None
    created_at: datetime
    updated_at: datetime
