"""The container's health check: exits with 0 if this container's service is ready, 1 otherwise.

A bare socket, because it runs every few seconds beside each service: the interpreter alone takes 15 ms,
with an HTTP library it would be ten times that.
"""

import os
import socket
import sys


def main() -> int:
    path = sys.argv[1] if len(sys.argv) > 1 else "/health/ready"
    port = int(os.environ.get("STUDIO_PORT", "8080"))
    try:
        with socket.create_connection(("127.0.0.1", port), 2.5) as connection:
            connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            response = b""
            while part := connection.recv(4096):
                response += part
    except OSError as problem:
        sys.stdout.write(f"{problem}\n")
        return 1
    sys.stdout.write(response.partition(b"\r\n\r\n")[2].decode(errors="replace") + "\n")
    return 0 if response.split(b" ", 2)[1:2] == [b"200"] else 1


if __name__ == "__main__":
    sys.exit(main())
