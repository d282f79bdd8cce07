"""Gets tokens without a browser, by Authlib: `pip install authlib requests`.

The first is the service's own; the second is for acting for whoever called it, by an exchange of their token
(RFC 8693).
"""

import os

from authlib.integrations.requests_client import OAuth2Session

ISSUER = os.environ["ISSUER"]
target = {"resource": os.environ["API"], "scope": "orders:read"}
client = OAuth2Session(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])

client.fetch_token(f"{ISSUER}/token", grant_type="client_credentials", **target)
print(client.get(os.environ["API_URL"]).text)

client.fetch_token(
    f"{ISSUER}/token",
    grant_type="urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token=os.environ["SUBJECT_TOKEN"],
    subject_token_type="urn:ietf:params:oauth:token-type:access_token",
    **target,
)
print(client.get(os.environ["API_URL"]).text)
