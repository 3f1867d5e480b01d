"""Every socket of this process, whichever library opened it, and its TCP statistics. Linux only."""

import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

# linux/tcp.h, struct tcp_info: unacked; last_data_sent, last_data_recv; bytes_acked, bytes_received; notsent.
_INFO: Final = struct.Struct("=24xI16xI4xI64xQQ8xI")
_INFO_SIZE: Final = 256
_RESET: Final = struct.pack("ii", 1, 0)


class Endpoints(Struct, frozen=True):
    port: int  # local
    peer: tuple[str, str] | None  # address and port; None for a listening socket


class TcpInfo(Struct, frozen=True):
    waiting: bool  # some data is not yet acknowledged by the peer
    acked: int  # bytes acknowledged by the peer
    received: int
    quiet: float  # seconds since the peer's last byte
    idle: float  # seconds without a byte in either direction


def open_sockets() -> Iterator[tuple[int, int]]:
    """Descriptor and inode. The descriptor alone is not enough: the kernel reuses its number.

    Read bit by bit, because thousands at once would hold up the event loop.
    """
    with os.scandir("/proc/self/fd") as entries:
        for entry in entries:
            fd = int(entry.name)
            try:
                status = os.fstat(fd)
            except OSError:
                continue
            if stat.S_ISSOCK(status.st_mode):
                yield fd, status.st_ino


def endpoints_of(fd: int) -> Endpoints | None:
    """None if it is not a TCP socket or is already closed."""
    try:
        with _borrowed(fd) as sock:
            name = sock.getsockname()
            if not isinstance(name, tuple):
                return None
            if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                return Endpoints(name[1], None)
            peer = sock.getpeername()
            return Endpoints(name[1], (str(peer[0]), str(peer[1])))
    except OSError:
        return None


def tcp_info(fd: int) -> TcpInfo | None:
    """None if it is closed: another thread may have closed it since it was listed."""
    # Not `_borrowed`: this runs for every connection twice a second, and a context manager doubles its cost.
    try:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=fd)
    except OSError:
        return None
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_SIZE)
        unacked, sent_ms, quiet_ms, acked, received, unsent = _INFO.unpack_from(info)
    except (OSError, struct.error):
        return None
    finally:
        sock.detach()
    waiting = bool(unacked or unsent)
    return TcpInfo(waiting, acked, received, quiet_ms / 1000, min(quiet_ms, sent_ms) / 1000)


def set_send_buffer(fd: int, size: int) -> None:
    with _borrowed(fd) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)


def close_socket(fd: int, inode: int) -> bool:
    """Shuts the connection down; its owner then closes the descriptor. False if it was closed already."""
    try:
        copy = os.dup(fd)  # so that the descriptor cannot be reused meanwhile
    except OSError:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=copy) as sock:
        if os.fstat(copy).st_ino != inode:
            return False
        try:
            # A reset also drops what the kernel has buffered for a slow reader.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return False
    return True


@contextmanager
def _borrowed(fd: int) -> Iterator[socket.socket]:
    """A socket object on a descriptor that somebody else owns. Naming the family saves system calls."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=fd)
    try:
        yield sock
    finally:
        sock.detach()
