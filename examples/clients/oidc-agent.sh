#!/bin/sh
# Signs somebody in at the command line by oidc-agent: `apt-get install oidc-agent-cli`. It prints where, and then what the
# API answers. Without `--no-save`, and with the agent of your session, the sign-in is kept.
set -eu
eval "$(oidc-agent --quiet)"
trap 'oidc-agent --kill >/dev/null' EXIT
oidc-gen signet --client-id="$CLIENT_ID" --client-secret= --issuer="$ISSUER" --redirect-uri="http://localhost:${PORT:-4242}" \
  --flow=code --scope="openid offline_access orders:read" --aud="$API" --no-url-call --no-save
call() { curl --silent --fail --header "Authorization: Bearer $1" "$API_URL" && echo; }
call "$(oidc-token signet)"
# The agent takes a new one before the old one expires; here at once.
call "$(oidc-token --force-new signet)"
