#!/usr/bin/env bash
# ldap-filter 0.3.3 (npm), which reads the text of LDAP filters (RFC 4515): a letter outside of ASCII that is escaped.
#
# Guessed before the run: `(cn=Z\c3\b6e)`, as RFC 4515 §3 has it for the octets of UTF-8, is the filter `(cn=Zöe)`, and
# what is written and what is escaped match the same entries.
#
# Seen: each escaped octet becomes a character of its own, "Ã" and "¶". The filter for the escaped name does not match
# the entry that the same filter with the letter itself matches. No error is raised. Escapes of ASCII are read rightly.
#
# What it means for a service: write letters as they are into filters, and escape only `*`, `(`, `)`, `\` and NUL.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent ldap-filter@0.3.3

cat >run.mjs <<'JS'
import filters from 'ldap-filter';

const found = (filter, cn) => filters.parse(filter).matches({ cn });
console.log(JSON.stringify({
  written: found('(cn=Zöe)', 'Zöe'),
  escaped: found('(cn=Z\\c3\\b6e)', 'Zöe'),
  readAs: filters.parse('(cn=Z\\c3\\b6e)').value,
  ascii: found('(cn=a\\2ab)', 'a*b'),
}));
JS
expected='{"written":true,"escaped":false,"readAs":"ZÃ¶e","ascii":true}'
actual="$(node run.mjs)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
