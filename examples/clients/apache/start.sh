#!/bin/sh
# Starts an Apache of its own with mod_auth_openidc.conf, until it is stopped.
PATH="$PATH:/usr/sbin"
HERE="$(dirname "$(realpath "$0")")"
PASSPHRASE="$(head -c 32 /dev/urandom | base64)"
FOLDER="$(mktemp -d)"
# Apache answers as a user of its own, who may not be able to read this folder.
PAGES="$FOLDER/pages"
chmod 711 "$FOLDER"
install -D -m 644 -t "$PAGES" "$HERE/person.shtml"
export PATH PAGES PASSPHRASE FOLDER

# Beside it: says when it answers, and takes its files away when it has ended.
{
  runs() { kill -0 $$ 2>/dev/null; }
  until curl -s -o /dev/null "http://localhost:$PORT/" || ! runs; do sleep 0.1; done
  if runs; then echo "The client listens on port $PORT."; else cat "$FOLDER/error.log" >&2; fi
  exec >/dev/null 2>&1
  while runs; do sleep 1; done
  rm -rf "$FOLDER"
} &

exec apache2 -X ${API:+-D API} -f "$HERE/mod_auth_openidc.conf"
