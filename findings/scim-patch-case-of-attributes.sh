#!/usr/bin/env bash
# scim-patch 0.8.3 (npm), which applies SCIM patches (RFC 7644 §3.5.2): the case of attribute names.
#
# Guessed before the run: attribute names have no case (RFC 7643 §2.1), so a path may write `USERNAME` or `Emails`, as it
# may write `TYPE` in a filter.
#
# Seen: within one path both happen. In the filter the name is found in any case. Outside of it, it is not: a replace of
# `USERNAME` answers with a user who has two names, `userName` as before and `USERNAME` with the new value, and no error
# is raised. The value in a filter has a case too, though `type` of an e-mail address has none (RFC 7643 §4.1.2): a
# replace of the "HOME" address of somebody who has a "home" one gives them a second address.
#
# What it means for a service: bring names to the case of the schema before the patch is applied.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent scim-patch@0.8.3

cat >run.mjs <<'JS'
import { scimPatch } from 'scim-patch';

const user = () => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada',
  emails: [{ type: 'home', value: 'old@example.com' }],
});
const replaced = (path, value) => {
  const { schemas: _schemas, ...rest } = scimPatch(user(), [{ op: 'replace', path, value }]);
  return rest;
};
console.log(JSON.stringify([
  replaced('USERNAME', 'grace'),
  replaced('emails[TYPE eq "home"].value', 'new@example.com'),
  replaced('emails[type eq "HOME"].value', 'new@example.com'),
]));
JS
expected='[{"userName":"ada","emails":[{"type":"home","value":"old@example.com"}],"USERNAME":"grace"},{"userName":"ada","emails":[{"type":"home","value":"new@example.com"}]},{"userName":"ada","emails":[{"type":"home","value":"old@example.com"},{"type":"HOME","value":"new@example.com"}]}]'
actual="$(node run.mjs)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
