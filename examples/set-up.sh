#!/usr/bin/env bash
# Creates the missing records of a first exchange, signs a user in, and prints three variables:
#   eval "$(examples/set-up.sh [URL])"
# ADMIN_CLIENT_ID and ADMIN_CLIENT_SECRET are the admin application's. The script can run repeatedly.
set -euo pipefail
SIGNET=${1:-http://localhost:${PORT:-3000}}
: "${ADMIN_CLIENT_ID:?is not set: the first start prints it}" "${ADMIN_CLIENT_SECRET:?is not set: the first start prints it}"
JAR=$(mktemp)
trap 'rm -f "$JAR"' EXIT

fail() { echo "examples/set-up.sh: $1" >&2; exit 1; }
# Reads one field of the JSON on standard input.
field() { node -pe "JSON.parse(require('fs').readFileSync(0))$1"; }
# api METHOD PATH [BODY]: one call of the management API. A refusal ends the script with its problem document.
api() {
  curl -sS --fail-with-body -X "$1" "$SIGNET/api$2" -H "Authorization: Bearer $TOKEN" \
    ${3:+-H 'Content-Type: application/json' -d "$3"} || fail "$1 /api$2 was refused"
}
# find PATH FIELD VALUE: the id of the record whose field has this value, or nothing.
find() {
  api GET "$1" | VALUE="$3" node -pe "
    const [list] = Object.values(JSON.parse(require('fs').readFileSync(0)));
    list.find((record) => record['$2'] === process.env.VALUE)?.id ?? ''"
}

TOKEN=$(curl -sS --fail-with-body "$SIGNET/oidc/token" -u "$ADMIN_CLIENT_ID:$ADMIN_CLIENT_SECRET" \
  -d grant_type=client_credentials -d resource=urn:signet:management -d scope=all) ||
  fail "no token for the admin application at $SIGNET: ${TOKEN:-}"
TOKEN=$(field .access_token <<<"$TOKEN")

# Two APIs; a scope of the second; a role that holds it; a user who has the role.
GATEWAY=$(find '/resources?search=gateway.example.com' indicator https://gateway.example.com)
[ -n "$GATEWAY" ] || api POST /resources '{"name": "Gateway", "indicator": "https://gateway.example.com"}' >/dev/null
ORDERS=$(find '/resources?search=orders.example.com' indicator https://orders.example.com)
[ -n "$ORDERS" ] || ORDERS=$(api POST /resources '{"name": "Orders", "indicator": "https://orders.example.com"}' | field .resource.id)
SCOPE=$(find "/resources/$ORDERS/scopes?first=100" name orders:read)
[ -n "$SCOPE" ] || SCOPE=$(api POST "/resources/$ORDERS/scopes" '{"name": "orders:read"}' | field .scope.id)
ROLE=$(find '/roles?search=Customer' name Customer)
[ -n "$ROLE" ] || ROLE=$(api POST /roles '{"name": "Customer"}' | field .role.id)
api POST "/roles/$ROLE/scopes" "{\"scopeIds\": [\"$SCOPE\"]}" >/dev/null
ALICE=$(find '/users?search=alice' username alice)
[ -n "$ALICE" ] || ALICE=$(api POST /users '{"username": "alice", "password": "correct horse battery"}' | field .user.id)
api POST "/users/$ALICE/roles" "{\"roleIds\": [\"$ROLE\"]}" >/dev/null

# The application that she signs in to, and the service that will exchange her token. A secret is shown once, so each
# run creates a new one and deletes the last.
SHOP=$(find '/applications?search=First+exchange' name 'First exchange: shop')
[ -n "$SHOP" ] || SHOP=$(api POST /applications '{"name": "First exchange: shop", "type": "SPA",
  "redirectUris": ["http://localhost:8080/callback"]}' | field .application.id)
SERVICE_ID=$(find '/applications?search=First+exchange' name 'First exchange: service A')
[ -n "$SERVICE_ID" ] || SERVICE_ID=$(api POST /applications '{"name": "First exchange: service A",
  "type": "MACHINE_TO_MACHINE", "allowTokenExchange": true}' | field .application.id)
OLD=$(find "/applications/$SERVICE_ID/secrets" name examples/set-up.sh)
[ -z "$OLD" ] || api DELETE "/applications/$SERVICE_ID/secrets/$OLD" >/dev/null
SERVICE_SECRET=$(api POST "/applications/$SERVICE_ID/secrets" '{"name": "examples/set-up.sh"}' | field .secret)

# She signs in (authorization code with PKCE). Normally a browser does this; here curl plays the browser.
browse() { curl -sS -c "$JAR" -b "$JAR" "$@"; }
VERIFIER=$(node -pe "require('crypto').randomBytes(32).toString('base64url')")
CHALLENGE=$(node -pe "require('crypto').createHash('sha256').update('$VERIFIER').digest('base64url')")
PAGE=$(browse -L -G "$SIGNET/oidc/auth" -d "client_id=$SHOP" -d response_type=code -d scope=openid \
  -d redirect_uri=http://localhost:8080/callback -d resource=https://gateway.example.com \
  -d "code_challenge=$CHALLENGE" -d code_challenge_method=S256 -d state=any)
# The first form of the page; Cancel has one of its own.
FORM=$(sed -n '/<form/{s/.*<form[^>]* action="\([^"]*\)".*/\1/p;q}' <<<"$PAGE")
CSRF=$(sed -n '/name="csrf"/{s/.*name="csrf" value="\([^"]*\)".*/\1/p;q}' <<<"$PAGE")
[ -n "$FORM" ] || fail 'no sign-in page came'
RESUME=$(browse -o /dev/null -w '%{redirect_url}' "$FORM" \
  -d "csrf=$CSRF" -d identifier=alice --data-urlencode 'password=correct horse battery')
[ -n "$RESUME" ] || fail 'alice cannot sign in: was she there before, with another password?'
CODE=$(browse -o /dev/null -w '%{redirect_url}' "$RESUME" | sed 's/.*code=\([^&]*\).*/\1/')
SUBJECT_TOKEN=$(curl -sS --fail-with-body "$SIGNET/oidc/token" -d "client_id=$SHOP" -d grant_type=authorization_code \
  -d "code=$CODE" -d redirect_uri=http://localhost:8080/callback -d "code_verifier=$VERIFIER" | field .access_token)

printf 'export %s=%q\n' SERVICE_ID "$SERVICE_ID" SERVICE_SECRET "$SERVICE_SECRET" SUBJECT_TOKEN "$SUBJECT_TOKEN"
