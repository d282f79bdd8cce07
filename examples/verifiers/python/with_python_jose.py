"""Service B with python-jose, which has neither EdDSA nor PS256: `pip install "python-jose[cryptography]"`."""

from jose import jwt
from service import API, ISSUER, KeySet, serve

keys = KeySet(f"{ISSUER}/jwks")
# The values of SIGNING_ALG that you have used.
ALGORITHMS = ["ES256", "ES384", "RS256"]
OPTIONS = {"require_iss": True, "require_aud": True, "require_exp": True, "require_sub": True, "leeway": 10}


def check(token: str) -> dict:
    """Checks an access token (RFC 9068, section 4) and returns its claims."""
    header = jwt.get_unverified_header(token)
    # One key: of a whole set it takes the first, and fails where that is of another type.
    key = keys.find(header.get("kid"))
    claims = jwt.decode(token, key, algorithms=ALGORITHMS, issuer=ISSUER, audience=API, options=OPTIONS)
    if header.get("typ") != "at+jwt" or "client_id" not in claims:
        raise ValueError("not an access token")
    return claims


if __name__ == "__main__":
    serve(check)
