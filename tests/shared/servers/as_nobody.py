"""Runs a function in a child process of the unprivileged user nobody."""

import multiprocessing
import os
import pwd
from collections.abc import Callable
from multiprocessing.connection import Connection


def as_nobody(work: Callable[[], str]) -> str:
    """A plain call when the tests run as an ordinary user already.

    Forked, not started anew: root's interpreter may lie where nobody cannot reach it.
    """
    if os.geteuid() != 0:
        return work()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_drop_and_work, args=(work, sender))
    child.start()
    sender.close()
    response: str = receiver.recv()
    child.join(20)
    return response


def _drop_and_work(work: Callable[[], str], sender: "Connection[str, str]") -> None:
    nobody = pwd.getpwnam("nobody")
    os.environ["HOME"] = "/"  # root's own is closed now, and asyncpg looks for certificates in it
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
    try:
        sender.send(work())
    except BaseException as error:
        sender.send(repr(error))
