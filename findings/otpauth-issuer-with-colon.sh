#!/usr/bin/env bash
# otpauth 9.5.2 (npm), the library that many services use for authenticator apps: its own URI, read by its own parser.
#
# Guessed before the run: an app whose issuer holds a colon ("Acme: Portal") comes back as it was, for the colon is
# percent-encoded in the label and the issuer stands in a parameter of its own.
#
# Seen: the parser decodes the label before it splits it, so the part of the issuer after its colon moves to the front of
# the account's name. The issuer stays whole, because the parameter wins. So each pass of writing and reading, such as an
# export and an import, makes the account's name longer by that part. No error is raised, and the codes stay right.
#
# What it means for a service: take the colon out of the issuer in the label. The parameter may keep it.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent otpauth@9.5.2

cat >run.mjs <<'JS'
import { TOTP, URI } from 'otpauth';

let app = new TOTP({ issuer: 'Acme: Portal', label: 'ada@example.com', secret: 'JBSWY3DPEHPK3PXP' });
const secret = app.secret.base32;
const seen = [[app.issuer, app.label]];
for (let pass = 1; pass <= 3; pass += 1) {
  app = URI.parse(app.toString());
  seen.push([app.issuer, app.label]);
}
const plain = new TOTP({ issuer: 'Acme Portal', label: 'u:ada@example.com', secret });
const back = URI.parse(plain.toString());
console.log(JSON.stringify({ seen, isSecretKept: app.secret.base32 === secret, accountWithColon: back.label }));
JS
expected='{"seen":[["Acme: Portal","ada@example.com"],["Acme: Portal"," Portal:ada@example.com"],["Acme: Portal"," Portal: Portal:ada@example.com"],["Acme: Portal"," Portal: Portal: Portal:ada@example.com"]],"isSecretKept":true,"accountWithColon":"u:ada@example.com"}'
actual="$(node run.mjs)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
