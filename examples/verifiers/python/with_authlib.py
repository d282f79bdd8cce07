"""Service B with Authlib: `pip install authlib`. New code takes joserfc, to which its authors point."""

from authlib.jose import JsonWebKey, JsonWebToken
from service import API, ISSUER, KeySet, serve

keys = KeySet(f"{ISSUER}/jwks")
# The values of SIGNING_ALG that you have used.
tokens = JsonWebToken(["ES256", "ES384", "EdDSA", "PS256", "RS256"])
# A claim that is not essential may be absent.
claims_options = {
    "iss": {"essential": True, "value": ISSUER},
    "aud": {"essential": True, "value": API},
    "exp": {"essential": True},
    "sub": {"essential": True},
    "client_id": {"essential": True},
}


def key_of(header, _payload):
    return JsonWebKey.import_key(keys.find(header.get("kid")))


def check(token: str) -> dict:
    """Checks an access token (RFC 9068, section 4) and returns its claims."""
    claims = tokens.decode(token, key_of, claims_options=claims_options)
    # Nothing but the signature is checked before.
    claims.validate(leeway=10)
    if claims.header.get("typ") != "at+jwt":
        raise ValueError("not an access token")
    return claims


if __name__ == "__main__":
    serve(check)
