"""moto as a server that keeps connections open, as DynamoDB does and moto's own server does not: cloud.py PORT."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import Client

client = Client(DomainDispatcherApplication(create_backend_app))


class Handler(BaseHTTPRequestHandler):
    """Answers from moto."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = client.open(self.path, method="POST", headers=list(self.headers.items()), data=body)
        content = answer.get_data()
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() not in ("connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
