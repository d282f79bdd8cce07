"""A receiver of webhooks with Python's http.server."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from signet_webhooks import MAX_BYTES, Refused, verify

PORT = int(os.environ.get("PORT", "4002"))
# In production: a table, kept for as long as retries can come.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            return self.answer(413)
        try:
            event = verify(self.rfile.read(int(length)), self.headers)
        except Refused:
            return self.answer(401)
        is_new = event["id"] not in seen
        seen.add(event["id"])
        self.answer(204)
        if is_new:
            print(event["type"], event["data"]["name"], flush=True)

    def answer(self, status: int):
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(("localhost", PORT), Receiver).serve_forever()
