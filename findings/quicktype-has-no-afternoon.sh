#!/usr/bin/env bash
# quicktype 26.0.0 (npm), which makes Java of JSON Schema and of OpenAPI's schemas: times with `--datetime-provider
# legacy`, which is for Java without `java.time`. Needs a JDK.
#
# Guessed, before its code was read: what its `Converter` reads and writes again is the same moment.
#
# Seen: it writes hours by a clock of twelve, without saying which half of the day: 15:04:05 becomes 03:04:05. It reads
# a fraction of a second as that many milliseconds, however many digits it has: .123456 moves the time by two minutes.
#
# What it means for a service: a client that sends back what it read is half a day wrong after noon, and nothing fails.
# A time of three digits, as `toISOString` writes it, is at least read rightly. Let Jackson read and write the times.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent --ignore-scripts quicktype@26.0.0

cat >event.json <<'JSON'
{
  "$schema": "http://json-schema.org/draft-06/schema#",
  "type": "object",
  "properties": { "at": { "type": "string", "format": "date-time" } },
  "required": ["at"]
}
JSON
mkdir made
npx quicktype --quiet --src-lang schema --src event.json --lang java --package made --datetime-provider legacy \
  --out made/Event.java

# What it made for times, without the rest, which needs Jackson.
{
  echo 'import java.util.*; import java.text.SimpleDateFormat; public class Times {'
  sed -n '/String\[\] DATE_TIME_FORMATS/,/^    };/p; /Date parseAllDateTimeString/,/^    }/p; /String serializeDateTime/,/^    }/p' made/Converter.java
  echo '  public static void main(String[] times) {'
  echo '    for (String time : times) System.out.println(time + " is written as " + serializeDateTime(parseAllDateTimeString(time)));'
  echo '  }'
  echo '}'
} >Times.java
expected='2026-05-01T09:04:05.123Z is written as 2026-05-01T09:04:05+0000
2026-05-01T15:04:05.123Z is written as 2026-05-01T03:04:05+0000
2026-05-01T09:04:05.123456Z is written as 2026-05-01T09:06:08+0000'
actual="$(java -Duser.timezone=UTC Times.java \
  2026-05-01T09:04:05.123Z 2026-05-01T15:04:05.123Z 2026-05-01T09:04:05.123456Z)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
