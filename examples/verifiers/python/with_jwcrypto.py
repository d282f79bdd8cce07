"""Service B with jwcrypto: `pip install jwcrypto`."""

import json

from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT
from service import API, ISSUER, KeySet, serve

keys = KeySet(f"{ISSUER}/jwks")
# The values of SIGNING_ALG that you have used.
ALGORITHMS = ["ES256", "ES384", "EdDSA", "PS256", "RS256"]


def check(token: str) -> dict:
    """Checks an access token (RFC 9068, section 4) and returns its claims."""
    # None means: it has to be there, whatever it says.
    must = {"iss": ISSUER, "aud": API, "exp": None, "sub": None, "client_id": None}
    checked = JWT(algs=ALGORITHMS, check_claims=must)
    # Without it an expired token is good for 60 seconds.
    checked.leeway = 10
    checked.deserialize(token)
    key = JWK(**keys.find(checked.token.jose_header.get("kid")))
    checked.deserialize(token, key)
    if json.loads(checked.header).get("typ") != "at+jwt":
        raise ValueError("not an access token")
    return json.loads(checked.claims)


if __name__ == "__main__":
    serve(check)
