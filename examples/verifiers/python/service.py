"""What the files beside it share: the keys of the issuer, and an HTTP server."""

import json
import logging
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen

ISSUER = os.environ["ISSUER"]
# This API's own indicator: a token for another API is not for us.
API = os.environ["API"]
SCOPE = os.environ["SCOPE"]


class KeySet:
    """The keys of an issuer by their `kid`, as JSON.

    They are fetched again for an unknown `kid`, at most every 5 seconds, and every 10 minutes, so that a deleted key
    is forgotten.
    """

    def __init__(self, url: str):
        self._url = url
        self._keys = {}
        self._fetched_at = float("-inf")
        self._lock = threading.Lock()

    def find(self, kid) -> dict:
        """Returns a key. Raises LookupError if there is none."""
        with self._lock:
            age = time.monotonic() - self._fetched_at
            if age > 600 or (kid not in self._keys and age > 5):
                self._fetch()
            return self._keys[kid]

    def _fetch(self):
        self._fetched_at = time.monotonic()
        try:
            with urlopen(self._url, timeout=5) as response:
                self._keys = {key["kid"]: key for key in json.load(response)["keys"]}
        except (OSError, ValueError, LookupError):
            logging.exception("The keys cannot be fetched; those of before stay.")


def serve(check):
    """Answers requests whose token `check` takes: it returns the claims, or raises whatever it likes."""

    class ServiceB(BaseHTTPRequestHandler):
        def do_GET(self):
            try:
                claims = check(self.headers.get("Authorization", "").removeprefix("Bearer "))
            except Exception as error:
                logging.info("A token is refused: %r", error)
                return self.answer(401)
            if SCOPE not in claims.get("scope", "").split(" "):
                return self.answer(403)
            self.answer(200, json.dumps({"user": claims["sub"]}).encode())

        def answer(self, status: int, body: bytes = b""):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("localhost", int(os.environ.get("PORT", "4000"))), ServiceB)
    print(f"Service B listens on port {server.server_address[1]}.", flush=True)
    server.serve_forever()
