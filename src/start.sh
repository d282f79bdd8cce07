#!/bin/sh
# Starts the service with what keeps its memory small; docs/performance.md has the figures.

# glibc raises these two while it runs, and then keeps what was freed. Naming one fixes both.
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
# Otherwise each thread has a heap of its own, whose free memory no other can use.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"

# To optimise its parser alone, V8 takes 600 MB and two seconds at each start of the embedded database.
exec node --expose-gc --max-semi-space-size=16 --no-wasm-tier-up --no-wasm-dynamic-tiering \
  "$(dirname "$0")/start.js"
