#!/usr/bin/env bash
# otplib 12.0.1 (npm), which makes and checks codes of authenticator apps: a secret in groups of four.
#
# Guessed before the run: apps and pages show a secret in groups of four letters, for people type it. With the spaces in
# it, otplib takes it as the same secret, as it takes small letters, or raises an error.
#
# Seen: small letters are the same secret. With spaces it makes codes of another secret, and raises no error: what the
# app shows is refused for good. Another library of the same age, speakeasy 2.0.0, does likewise.
#
# What it means for a service: take spaces out of a secret before it is stored or used.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent otplib@12.0.1 speakeasy@2.0.0

cat >run.mjs <<'JS'
import otplib from 'otplib';
import speakeasy from 'speakeasy';

const secrets = { plain: 'JBSWY3DPEHPK3PXP', small: 'jbswy3dpehpk3pxp', groups: 'JBSW Y3DP EHPK 3PXP' };
// At one instant, and by a counter: no clock has a part in it.
const byOtplib = (secret) => {
  const { authenticator } = otplib;
  const one = authenticator.clone({ epoch: 0 });
  return one.generate(secret);
};
const bySpeakeasy = (secret) => speakeasy.hotp({ secret, encoding: 'base32', counter: 0 });
const compared = (codeOf) =>
  Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [name, codeOf(secret) === codeOf(secrets.plain)]),
  );
console.log(JSON.stringify({ otplib: compared(byOtplib), speakeasy: compared(bySpeakeasy) }));
JS
expected='{"otplib":{"plain":true,"small":true,"groups":false},"speakeasy":{"plain":true,"small":true,"groups":false}}'
actual="$(node run.mjs)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
