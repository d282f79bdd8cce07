"""Service B in Python. It needs only `pip install "pyjwt[crypto]"`."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

ISSUER = os.environ.get("ISSUER", "http://localhost:3000/oidc")
PORT = int(os.environ.get("PORT", "4001"))
# Keys are fetched when they are needed, and cached.
keys = jwt.PyJWKClient(f"{ISSUER}/jwks")


def check(token: str) -> dict:
    """Checks an access token (RFC 9068, section 4) and returns its claims."""
    # An ID token is not an access token.
    if jwt.get_unverified_header(token).get("typ") != "at+jwt":
        raise jwt.InvalidTokenError("not an access token")
    return jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token).key,
        # The values of SIGNING_ALG that you have used. Never trust the token's own algorithm.
        algorithms=["ES256"],
        issuer=ISSUER,
        # This API's own indicator: a token for another API is not for us.
        audience="https://orders.example.com",
        # A token is new when it comes: a clock that is some seconds behind would call it one of the future.
        leeway=10,
        options={"require": ["sub", "exp", "client_id"]},
    )


class ServiceB(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            claims = check(self.headers.get("Authorization", "").removeprefix("Bearer "))
        except jwt.PyJWTError:
            return self.refuse(401, "invalid_token")
        if "orders:read" not in claims.get("scope", "").split(" "):
            return self.refuse(403, "insufficient_scope")
        body = {"user": claims["sub"], "calledBy": claims["client_id"], "through": claims.get("act")}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def refuse(self, status: int, error: str):
        self.send_response(status)
        self.send_header("WWW-Authenticate", f'Bearer error="{error}"')
        self.end_headers()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("localhost", PORT), ServiceB)
    print(f"Service B listens on port {server.server_address[1]}.", flush=True)
    server.serve_forever()
