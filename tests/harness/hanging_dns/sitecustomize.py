"""Gives a process another name server: with this folder in PYTHONPATH, Python imports this file first.

The name servers of a process cannot be replaced without a namespace of its own.
"""

import os
from functools import partial

import aiodns

aiodns.DNSResolver = partial(aiodns.DNSResolver, nameservers=[os.environ["NAME_SERVER"]])  # type: ignore
