#!/bin/bash
# Runs the RUN lines of one IR file: run_line.sh FILE.ll PATH/opsight-opt. "%s" is the file; a line that starts with
# "not" must fail in its first command. A file without a RUN line fails: a test that runs nothing proves nothing.
set -u -o pipefail
file=$1
export PATH=$(dirname "$2"):$PATH
not() { if "$@"; then return 1; fi; }
lines=$(sed -n 's/^; RUN: //p' "$file")
[ -n "$lines" ] || { echo "$file has no RUN line"; exit 1; }
while IFS= read -r line; do
  eval "${line//%s/\"$file\"}" || { echo "failed: $line"; exit 1; }
done <<<"$lines"
