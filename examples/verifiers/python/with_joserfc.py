"""Service B with joserfc: `pip install joserfc`."""

from joserfc import jwt
from joserfc.jwk import JWKRegistry
from service import API, ISSUER, KeySet, serve

keys = KeySet(f"{ISSUER}/jwks")
# The values of SIGNING_ALG that you have used.
ALGORITHMS = ["ES256", "ES384", "EdDSA", "PS256", "RS256"]
# A claim that is not essential may be absent.
CLAIMS = {
    "iss": {"essential": True, "value": ISSUER},
    "aud": {"essential": True, "value": API},
    "exp": {"essential": True},
    "sub": {"essential": True},
    "client_id": {"essential": True},
}


def key_of(token):
    return JWKRegistry.import_key(keys.find(token.headers().get("kid")))


def check(token: str) -> dict:
    """Checks an access token (RFC 9068, section 4) and returns its claims."""
    decoded = jwt.decode(token, key_of, algorithms=ALGORITHMS)
    # Nothing but the signature is checked before. A registry of joserfc 1.1 keeps the time at which it was made: each
    # token needs its own. A token is new when it comes: a clock that is some seconds behind would call it one of the future.
    jwt.JWTClaimsRegistry(leeway=10, **CLAIMS).validate(decoded.claims)
    if decoded.header.get("typ") != "at+jwt":
        raise ValueError("not an access token")
    return decoded.claims


if __name__ == "__main__":
    serve(check)
