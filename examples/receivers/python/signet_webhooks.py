"""Checks webhooks of Signet (Standard Webhooks). It needs only the standard library."""

import base64
import hashlib
import hmac
import json
import os
import re
import time
from collections.abc import Mapping

MAX_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].strip().removeprefix("whsec_"))
# Everybody could sign with an empty key.
if len(KEY) < 24:
    raise SystemExit("WEBHOOK_SECRET is not a secret of a webhook.")


class Refused(Exception):
    """Signet has not signed the message, or not in the last five minutes."""


def verify(body: bytes, headers: Mapping[str, str]) -> dict:
    """Returns the event of a message.

    `body` is what came, byte for byte. `headers` finds names in any case.
    """
    sent = headers.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", sent) or abs(time.time() - int(sent)) > TOLERANCE_SECONDS:
        raise Refused
    signed = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    due = b"v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256))
    # One for each live secret: there are two after a rotation.
    given = headers.get("webhook-signature", "").encode().split(b" ")
    if not any([hmac.compare_digest(due, each) for each in given]):
        raise Refused
    return json.loads(body)
