"""Signs people in with python-social-auth and Django: `pip install social-auth-app-django social-auth-core[openidconnect] requests`."""

import base64
import hashlib
import os
import secrets
from datetime import timedelta
from wsgiref.simple_server import make_server

import django
import requests
from django.conf import settings
from django.contrib.auth import logout
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import include, path
from social_core.backends.open_id_connect import OpenIdConnectAuth

ISSUER = os.environ["ISSUER"]
# Without an API, the access token is for user info.
API = os.environ.get("API")
API_URL = os.environ.get("API_URL", "")
PORT = int(os.environ.get("PORT", "4100"))
BASE_URL = f"http://localhost:{PORT}"


class Signet(OpenIdConnectAuth):
    name = "signet"
    # Otherwise it would store no lifetime, and refresh nothing. Django's users have no name as a whole.
    EXTRA_DATA = [*OpenIdConnectAuth.EXTRA_DATA, ("expires_in", "expires"), "name"]

    # It has no PKCE by itself before 4.8.7.
    def auth_params(self, state=None):
        verifier = secrets.token_urlsafe(48)
        self.strategy.session_set("code_verifier", verifier)
        digest = hashlib.sha256(verifier.encode()).digest()
        return {
            **super().auth_params(state),
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }

    def auth_complete_params(self, state=None):
        return {
            **super().auth_complete_params(state),
            "code_verifier": self.strategy.session_pop("code_verifier"),
        }

    def user_data(self, access_token, *args, **kwargs):
        # Signet's user info refuses a token for an API: the ID token says who it is.
        return self.id_token if API else super().user_data(access_token, *args, **kwargs)


settings.configure(
    SECRET_KEY=secrets.token_hex(32),
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "social_django",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    LOGIN_REDIRECT_URL="/",
    AUTHENTICATION_BACKENDS=[f"{__name__}.Signet"],
    SOCIAL_AUTH_SIGNET_OIDC_ENDPOINT=ISSUER,
    SOCIAL_AUTH_SIGNET_KEY=os.environ["CLIENT_ID"],
    SOCIAL_AUTH_SIGNET_SECRET=os.environ["CLIENT_SECRET"],
    SOCIAL_AUTH_SIGNET_SCOPE=["offline_access", "orders:read"],
    SOCIAL_AUTH_SIGNET_AUTH_EXTRA_ARGUMENTS={"resource": API} if API else {},
    # By itself it takes RS256 alone.
    SOCIAL_AUTH_SIGNET_JWT_ALGORITHMS=["ES256"],
)
django.setup()

from social_django.utils import load_strategy  # noqa: E402


def signed_in(request):
    """What it stores of the person: tokens, and the subject."""
    return request.user.social_auth.get(provider=Signet.name)


def home(request):
    who = {"sub": signed_in(request).uid} if request.user.is_authenticated else None
    return JsonResponse(who, safe=False)


def orders(request):
    person = signed_in(request)
    if person.expiration_timedelta() <= timedelta(minutes=1):
        person.refresh_token(load_strategy(request))
    answer = requests.get(API_URL, headers={"Authorization": f"Bearer {person.access_token}"})
    return HttpResponse(answer.text, status=answer.status_code)


def profile(request):
    name = signed_in(request).extra_data["name"]
    return JsonResponse({"name": name, "email": request.user.email})


def sign_out(request):
    id_token = signed_in(request).extra_data["id_token"]
    logout(request)
    leave = {"id_token_hint": id_token, "post_logout_redirect_uri": BASE_URL}
    return HttpResponseRedirect(
        requests.Request(url=f"{ISSUER}/session/end", params=leave).prepare().url
    )


urlpatterns = [
    path("", home),
    path("sign-in", lambda request: HttpResponseRedirect("/login/signet/")),
    path("orders", orders),
    path("profile", profile),
    path("sign-out", sign_out),
    path("", include("social_django.urls", namespace="social")),
]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    server = make_server("localhost", PORT, get_wsgi_application())
    print(f"The client listens on port {PORT}.", flush=True)
    server.serve_forever()
