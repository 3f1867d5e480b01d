"""Nothing that a caller sends can become a second header or a second request."""

import pytest

from services.gateway.upstream.messages import request_head

Header = tuple[bytes, bytes]


BREAKS = (b"\r", b"\n", b"\0", b"\r\nx-caller: forged", b"\r\n\r\nGET / HTTP/1.1\r\n\r\n")
# A space would end the target; an absolute address would choose another host.
TARGETS = (b"", b"a", b"http://other/", b"/a b", b"/a HTTP/1.1", b"/\x7f", b"/\xff", b"/\t")
# A colon inside a name would make another name of it.
NAMES = (b"", b"a b", b"a:", b"x-caller: forged\t", b"\xc3\xa9")


@pytest.mark.parametrize(
    ("method", "target", "header"),
    [
        *((b"GET", b"/", (b"x", b"a" + bad)) for bad in BREAKS),
        *((b"GET" + bad, b"/", (b"x", b"a")) for bad in BREAKS),
        *((b"GET", target, (b"x", b"a")) for target in (*TARGETS, *(b"/a" + bad for bad in BREAKS))),
        *((b"GET", b"/", (name, b"a")) for name in (*NAMES, *(b"x" + bad for bad in BREAKS))),
    ],
)
def test_what_would_be_misread_is_refused_wherever_it_stands(
    method: bytes, target: bytes, header: Header
) -> None:
    """Header values, names, target and method are all lines of text on the wire."""
    with pytest.raises(ValueError):
        request_head(method, target, b"h", [header], b"")


@pytest.mark.parametrize(
    "header",
    [
        (b"Content-Length", b"99"),
        (b"transfer-encoding", b"chunked"),
        (b"Transfer-Encoding", b"chunked"),
        (b"host", b"other"),
        (b"connection", b"close, x-caller"),
        (b"upgrade", b"websocket"),
        (b"expect", b"100-continue"),
        (b"te", b"trailers"),
    ],
)
def test_the_framing_is_ours(header: Header) -> None:
    """The length, the host and the hop's own headers are set here and never taken over."""
    head = request_head(b"POST", b"/a?b=%20", b"service:80", [header, (b"x-a", b"1")], b"{}")
    assert head == b"POST /a?b=%20 HTTP/1.1\r\nhost: service:80\r\ncontent-length: 2\r\nx-a: 1\r\n\r\n"


def test_a_write_without_a_body_says_so() -> None:
    """Some servers wait for a body, or refuse, when a POST names no length."""
    assert b"content-length: 0\r\n" in request_head(b"POST", b"/", b"h", [], b"")
    assert b"content-length" not in request_head(b"GET", b"/", b"h", [], b"")
