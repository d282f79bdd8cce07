#!/usr/bin/env bash
# A first exchange with curl against a running service, with its set-up and the user's sign-in:
#   ADMIN_CLIENT_ID=… ADMIN_CLIENT_SECRET=… examples/first-exchange.sh [URL]
set -euo pipefail
SIGNET=${1:-http://localhost:${PORT:-3000}}
VARIABLES=$("$(dirname "$0")/set-up.sh" "$SIGNET")
eval "$VARIABLES"

# Service A exchanges the user's token for a token for the orders API.
curl -sS --fail-with-body "$SIGNET/oidc/token" -u "$SERVICE_ID:$SERVICE_SECRET" \
  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \
  -d "subject_token=$SUBJECT_TOKEN" -d subject_token_type=urn:ietf:params:oauth:token-type:access_token \
  -d resource=https://orders.example.com -d scope=orders:read
