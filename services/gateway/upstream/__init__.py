"""Forwarding to one service: over a socket (`HttpUpstream`) or in the same process (`AsgiUpstream`)."""

from services.gateway.upstream.in_process import AsgiUpstream
from services.gateway.upstream.messages import NotReached, OutcomeUnknown, Upstream, UpstreamResponse
from services.gateway.upstream.pool import HttpUpstream

__all__ = ["AsgiUpstream", "HttpUpstream", "NotReached", "OutcomeUnknown", "Upstream", "UpstreamResponse"]
