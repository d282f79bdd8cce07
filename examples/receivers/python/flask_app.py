"""A receiver of webhooks with Flask."""

import os

from flask import Flask, request

from signet_webhooks import MAX_BYTES, Refused, verify

app = Flask(__name__)
# Without it, a stranger's body is read whatever its length.
app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
# In production: a table, kept for as long as retries can come.
seen = set()


@app.post("/")
def receive():
    try:
        # Not request.json: the bytes as they came.
        event = verify(request.get_data(), request.headers)
    except Refused:
        return "", 401
    if event["id"] not in seen:
        seen.add(event["id"])
        print(event["type"], event["data"]["name"], flush=True)
    return "", 204


if __name__ == "__main__":
    app.run("localhost", int(os.environ.get("PORT", "4002")))
