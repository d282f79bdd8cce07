#!/usr/bin/env bash
# parse-prometheus-text-format 1.1.1 (npm), which reads the text format of Prometheus: a histogram with labels.
#
# Guessed before the run: a histogram of two routes comes back as two metrics, each with its label, its buckets, its sum
# and its count, as counters and gauges with labels do.
#
# Seen: it comes back as one metric without a label. The buckets of the route that comes last have taken the place of the
# others', and the sums and counts are gone. No error is raised. A counter with the same labels is read rightly.
#
# What it means for a service: a test that reads its own durations by this parser looks at the last route alone.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-fund --no-audit --silent parse-prometheus-text-format@1.1.1

cat >run.mjs <<'JS'
import parser from 'parse-prometheus-text-format';

const parse = parser.default ?? parser;
const routes = { '/users': [1, 2], '/roles': [3, 4] };
const histogram = Object.entries(routes).map(([route, [fast, all]]) => `
took_bucket{route="${route}",le="0.1"} ${fast}
took_bucket{route="${route}",le="+Inf"} ${all}
took_sum{route="${route}"} 0.5
took_count{route="${route}"} ${all}`);
const counter = Object.entries(routes).map(([route, [, all]]) => `\nasked{route="${route}"} ${all}`);
const text = `# TYPE took histogram${histogram.join('')}\n# TYPE asked counter${counter.join('')}\n`;
console.log(JSON.stringify(parse(text).map(({ name, metrics }) => [name, metrics])));
JS
expected='[["took",[{"buckets":{"0.1":"3","+Inf":"4"}}]],["asked",[{"value":"2","labels":{"route":"/users"}},{"value":"4","labels":{"route":"/roles"}}]]]'
actual="$(node run.mjs)"
echo "$actual"
[ "$actual" = "$expected" ] || { echo "It changed; expected: $expected" >&2; exit 1; }
