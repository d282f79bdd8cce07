"""A receiver of webhooks with FastAPI."""

import os

import uvicorn
from fastapi import FastAPI, Request, Response

from signet_webhooks import MAX_BYTES, Refused, verify

app = FastAPI()
# In production: a table, kept for as long as retries can come.
seen = set()


@app.post("/")
async def receive(request: Request):
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MAX_BYTES:
        return Response(status_code=413)
    try:
        # Not a parameter with a model: the bytes as they came.
        event = verify(await request.body(), request.headers)
    except Refused:
        return Response(status_code=401)
    if event["id"] not in seen:
        seen.add(event["id"])
        print(event["type"], event["data"]["name"], flush=True)
    return Response(status_code=204)


if __name__ == "__main__":
    uvicorn.run(app, host="localhost", port=int(os.environ.get("PORT", "4002")))
