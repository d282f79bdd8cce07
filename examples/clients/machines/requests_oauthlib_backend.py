"""Gets tokens without a browser, by requests-oauthlib: `pip install requests-oauthlib`.

The first is the service's own; the second is for acting for whoever called it, by an exchange of their token
(RFC 8693), which oauthlib has no class for.
"""

import os

from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session

ISSUER = os.environ["ISSUER"]
CLIENT_ID = os.environ["CLIENT_ID"]
if ISSUER.startswith("http://localhost"):
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"


class TokenExchange(BackendApplicationClient):
    grant_type = "urn:ietf:params:oauth:grant-type:token-exchange"


def call(client, **values):
    session = OAuth2Session(client=client)
    session.fetch_token(
        f"{ISSUER}/token",
        client_id=CLIENT_ID,
        client_secret=os.environ["CLIENT_SECRET"],
        resource=os.environ["API"],
        scope=["orders:read"],
        **values,
    )
    print(session.get(os.environ["API_URL"]).text)


call(BackendApplicationClient(CLIENT_ID))
call(
    TokenExchange(CLIENT_ID),
    subject_token=os.environ["SUBJECT_TOKEN"],
    subject_token_type="urn:ietf:params:oauth:token-type:access_token",
)
