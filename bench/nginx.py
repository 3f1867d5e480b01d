"""nginx with one worker: the constant backend, and a gateway to compare with."""

from collections.abc import Collection
from pathlib import Path

from bench.children import Process
from bench.cores import tree
from shared.servers.ports import free_port

RESPONSE = '{"id":"00000001-0000-4000-8000-000000000000","object":"studio","name":"Reading","slug":"reading"}'

HEAD = """
daemon off; worker_processes 1; pid {home}/nginx.pid; error_log {home}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 100000000; keepalive_timeout 600s;
  client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
"""
BACKEND = """
  server {{
    listen 127.0.0.1:{port} backlog=4096; default_type application/json;
    location = /auth {{ if ($http_x_service_key = "") {{ return 401; }} return 204; }}
    location /hook {{ return 200 'ok'; }}
    location / {{ return 200 '{response}'; }}
  }}
"""
GATEWAY = """
  upstream backend {{
    server 127.0.0.1:{backend}; keepalive 128; keepalive_requests 100000000; keepalive_timeout 600s;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    proxy_http_version 1.1; proxy_set_header Connection "";
    location = /auth {{
      internal; proxy_pass http://backend/auth; proxy_pass_request_body off;
      proxy_set_header Content-Length "";
    }}
    location /plain/ {{ proxy_pass http://backend/; }}
    location /checked/ {{ auth_request /auth; proxy_pass http://backend/; }}
  }}
"""


def configuration(server: str, **values: object) -> str:
    return (HEAD + server + "}}\n").format(response=RESPONSE, **values)


class Nginx:
    """Without `backend`, the constant backend; with a port, a gateway in front of it."""

    def __init__(
        self, binary: str, home: Path, *, cores: Collection[int], backend: int | None = None
    ) -> None:
        self.port = free_port()
        server = BACKEND if backend is None else GATEWAY
        config = home / "nginx.conf"
        config.write_text(configuration(server, home=home, port=self.port, backend=backend))
        self._process = Process(
            [binary, "-p", str(home), "-c", str(config)], log=home / "nginx.log", cores=cores
        )
        self._process.wait_ready(f"{self.url}/ready")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pids(self) -> list[int]:
        return tree(self._process.pid)

    def stop(self) -> None:
        self._process.stop()
