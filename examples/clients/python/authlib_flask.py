"""Signs people in with Authlib and Flask: `pip install authlib flask requests`. Django and Starlette have the same client."""

import os
import secrets
import time

import requests
from authlib.integrations.flask_client import OAuth
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask, jsonify, redirect, session

ISSUER = os.environ["ISSUER"]
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
# Without an API, the access token is for user info.
API = os.environ.get("API")
API_URL = os.environ.get("API_URL", "")
PORT = int(os.environ.get("PORT", "4100"))
BASE_URL = f"http://localhost:{PORT}"

app = Flask(__name__)
app.secret_key = secrets.token_hex(32)
signet = OAuth(app).register(
    "signet",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=CLIENT_ID,
    client_secret=CLIENT_SECRET,
    authorize_params={"resource": API} if API else None,
    client_kwargs={
        "scope": "openid profile email offline_access orders:read",
        "code_challenge_method": "S256",
    },
)
# Tokens stay here: Flask's session is a cookie that the browser can read.
people = {}


def person():
    return people.get(session.get("key"))


@app.get("/")
def home():
    return jsonify(person() and person()["userinfo"])


@app.get("/sign-in")
def sign_in():
    return signet.authorize_redirect(f"{BASE_URL}/callback")


@app.get("/callback")
def callback():
    token = signet.authorize_access_token()
    session.clear()
    session["key"] = secrets.token_urlsafe(32)
    people[session["key"]] = token
    return redirect("/")


def access_token():
    """An access token that is good for a minute at least."""
    token = person()
    if token["expires_at"] - time.time() <= 60:
        token.update(
            signet.fetch_access_token(
                grant_type="refresh_token", refresh_token=token["refresh_token"]
            )
        )
    return token["access_token"]


@app.get("/orders")
def orders():
    answer = requests.get(API_URL, headers={"Authorization": f"Bearer {access_token()}"})
    return answer.text, answer.status_code


@app.get("/profile")
def profile():
    return jsonify(signet.userinfo(token=person()))


@app.get("/sign-out")
def sign_out():
    token = people.pop(session.pop("key"))
    metadata = signet.load_server_metadata()
    OAuth2Session(CLIENT_ID, CLIENT_SECRET).revoke_token(
        metadata["revocation_endpoint"],
        token=token["refresh_token"],
        token_type_hint="refresh_token",
    )
    leave = {"id_token_hint": token["id_token"], "post_logout_redirect_uri": BASE_URL}
    address = requests.Request(url=metadata["end_session_endpoint"], params=leave).prepare().url
    return redirect(address)


if __name__ == "__main__":
    from wsgiref.simple_server import make_server

    server = make_server("localhost", PORT, app)
    print(f"The client listens on port {PORT}.", flush=True)
    server.serve_forever()
