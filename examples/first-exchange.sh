#!/usr/bin/env bash
# A first exchange with curl against a running service:
#   ADMIN_CLIENT_ID=app_… ADMIN_CLIENT_SECRET=… examples/first-exchange.sh [http://localhost:3000]
set -euo pipefail
SIGNET=${1:-http://localhost:3000}
JAR=$(mktemp)
trap 'rm -f "$JAR"' EXIT
field() { node -pe "JSON.parse(require('fs').readFileSync(0))$1"; }

# A token for the management API.
TOKEN=$(curl -sS "$SIGNET/oidc/token" -u "$ADMIN_CLIENT_ID:$ADMIN_CLIENT_SECRET" \
  -d grant_type=client_credentials -d resource=urn:signet:management -d scope=all | field .access_token)

# Sends one mutation with its input, and takes one field of what it returns.
mutate() {
  curl -sS "$SIGNET/graphql" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d "{\"query\": \"mutation(\$input: ${1^}Input!) { result: $1(input: \$input) { __typename ... on ${1^}Payload { $2 } ... on Error { message } } }\", \"variables\": {\"input\": $3}}"
}

# Two APIs; a scope of the second; a role that holds it; a user who has the role.
mutate createResource 'resource { id }' '{"name": "Gateway", "indicator": "https://gateway.example.com"}' >/dev/null
ORDERS=$(mutate createResource 'resource { id }' '{"name": "Orders", "indicator": "https://orders.example.com"}' | field .data.result.resource.id)
SCOPE=$(mutate createScope 'scope { id }' "{\"resourceId\": \"$ORDERS\", \"name\": \"orders:read\"}" | field .data.result.scope.id)
ROLE=$(mutate createRole 'role { id }' "{\"name\": \"Customer\", \"scopeIds\": [\"$SCOPE\"]}" | field .data.result.role.id)
ALICE=$(mutate createUser 'user { id }' '{"username": "alice", "password": "correct horse battery"}' | field .data.result.user.id)
mutate assignUserRoles 'user { id }' "{\"userId\": \"$ALICE\", \"roleIds\": [\"$ROLE\"]}" >/dev/null

# The application that she signs in to, and the service that will swap her token.
SHOP=$(mutate createApplication 'application { id }' '{"name": "Shop", "type": "SPA", "redirectUris": ["http://localhost:8080/callback"]}' | field .data.result.application.id)
SERVICE=$(mutate createApplication 'secret application { id }' '{"name": "Service A", "type": "MACHINE_TO_MACHINE", "allowTokenExchange": true}')
SERVICE_ID=$(field .data.result.application.id <<<"$SERVICE")
SERVICE_SECRET=$(field .data.result.secret <<<"$SERVICE")

# She signs in (authorization code with PKCE). A browser does this; here curl plays one.
VERIFIER=$(node -pe "require('crypto').randomBytes(32).toString('base64url')")
CHALLENGE=$(node -pe "require('crypto').createHash('sha256').update('$VERIFIER').digest('base64url')")
PAGE=$(curl -sSL -c "$JAR" -b "$JAR" -G "$SIGNET/oidc/auth" -d "client_id=$SHOP" -d response_type=code -d scope=openid \
  -d redirect_uri=http://localhost:8080/callback -d resource=https://gateway.example.com \
  -d "code_challenge=$CHALLENGE" -d code_challenge_method=S256 -d state=any)
FORM=$(sed -n 's/.*<form[^>]* action="\([^"]*\)".*/\1/p' <<<"$PAGE")
CSRF=$(sed -n 's/.*name="csrf" value="\([^"]*\)".*/\1/p' <<<"$PAGE")
RESUME=$(curl -sS -c "$JAR" -b "$JAR" -o /dev/null -w '%{redirect_url}' "$FORM" \
  -d "csrf=$CSRF" -d identifier=alice --data-urlencode 'password=correct horse battery')
CODE=$(curl -sS -c "$JAR" -b "$JAR" -o /dev/null -w '%{redirect_url}' "$RESUME" | sed 's/.*code=\([^&]*\).*/\1/')
SUBJECT_TOKEN=$(curl -sS "$SIGNET/oidc/token" -d "client_id=$SHOP" -d grant_type=authorization_code -d "code=$CODE" \
  -d redirect_uri=http://localhost:8080/callback -d "code_verifier=$VERIFIER" | field .access_token)

# Service A swaps her token for one aimed at the orders API.
curl -sS "$SIGNET/oidc/token" -u "$SERVICE_ID:$SERVICE_SECRET" \
  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \
  -d "subject_token=$SUBJECT_TOKEN" -d subject_token_type=urn:ietf:params:oauth:token-type:access_token \
  -d resource=https://orders.example.com -d scope=orders:read
