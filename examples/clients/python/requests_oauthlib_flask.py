"""Gets tokens with requests-oauthlib: `pip install requests-oauthlib flask`. It looks at no ID token, and 1.3 has no PKCE."""

import base64
import hashlib
import json
import os
import secrets
import time

import requests
from flask import Flask, jsonify, redirect, request, session
from requests_oauthlib import OAuth2Session

ISSUER = os.environ["ISSUER"]
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
# Without an API, the access token is for user info.
API = os.environ.get("API")
API_URL = os.environ.get("API_URL", "")
PORT = int(os.environ.get("PORT", "4100"))
BASE_URL = f"http://localhost:{PORT}"

SCOPES = ["openid", "profile", "email", "offline_access", "orders:read"]
target = {"resource": API} if API else {}
# It takes fewer scopes than were asked for as a fault otherwise.
os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"
if ISSUER.startswith("http://localhost"):
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

app = Flask(__name__)
app.secret_key = secrets.token_hex(32)
# Tokens stay here: Flask's session is a cookie that the browser can read.
people = {}
# Whoever is on the way to Signet, with what PKCE proves.
waiting = {}


def person():
    return people.get(session.get("key"))


def client(**values):
    return OAuth2Session(CLIENT_ID, redirect_uri=f"{BASE_URL}/callback", scope=SCOPES, **values)


def claims_of(token):
    """The claims of the ID token: it comes from Signet without a detour (OpenID Connect Core, section 3.1.3.7)."""
    payload = token["id_token"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


@app.get("/")
def home():
    return jsonify(person() and claims_of(person()))


@app.get("/sign-in")
def sign_in():
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    url, state = client().authorization_url(
        f"{ISSUER}/auth",
        code_challenge=base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        code_challenge_method="S256",
        **target,
    )
    session["key"] = secrets.token_urlsafe(32)
    waiting[session["key"]] = {"state": state, "verifier": verifier}
    return redirect(url)


@app.get("/callback")
def callback():
    checks = waiting.pop(session.pop("key", None), None)
    if not checks or request.args.get("iss") != ISSUER:
        return "The sign-in was not begun here.", 400
    token = client(state=checks["state"]).fetch_token(
        f"{ISSUER}/token",
        authorization_response=request.url,
        client_secret=CLIENT_SECRET,
        code_verifier=checks["verifier"],
        **target,
    )
    session["key"] = secrets.token_urlsafe(32)
    people[session["key"]] = token
    return redirect("/")


def access_token():
    """An access token that is good for a minute at least."""
    token = person()
    if token["expires_at"] - time.time() <= 60:
        token.update(
            client(token=token).refresh_token(
                f"{ISSUER}/token", auth=(CLIENT_ID, CLIENT_SECRET), **target
            )
        )
    return token["access_token"]


@app.get("/orders")
def orders():
    answer = requests.get(API_URL, headers={"Authorization": f"Bearer {access_token()}"})
    return answer.text, answer.status_code


@app.get("/profile")
def profile():
    answer = client(token=person()).get(f"{ISSUER}/me")
    return answer.text, answer.status_code


@app.get("/sign-out")
def sign_out():
    token = people.pop(session.pop("key"))
    requests.post(
        f"{ISSUER}/token/revocation",
        {"token": token["refresh_token"]},
        auth=(CLIENT_ID, CLIENT_SECRET),
    ).raise_for_status()
    leave = {"id_token_hint": token["id_token"], "post_logout_redirect_uri": BASE_URL}
    return redirect(requests.Request(url=f"{ISSUER}/session/end", params=leave).prepare().url)


if __name__ == "__main__":
    from wsgiref.simple_server import make_server

    server = make_server("localhost", PORT, app)
    print(f"The client listens on port {PORT}.", flush=True)
    server.serve_forever()
