#!/usr/bin/env bash
# fuzz.sh BUILD [OPTION...]: every reader's program in BUILD on its corpus and what it has found before (BUILD/corpus), with
# options of libFuzzer such as -runs=1000000. READERS names some of them. What crashes a reader, takes it longer than a second or needs
# 2 GiB is kept in BUILD/found, and the exit status is 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
corpus=tests/fuzz/corpus
status=0
mkdir -p "$build/found"
printf '%-16s %12s %8s %8s %8s\n' reader executions seconds 'peak MB' result
for reader in ${READERS:-$(ls "$corpus")}; do
  mkdir -p "$build/corpus/$reader"
  log=$build/found/$reader.log
  result=clean
  begun=$SECONDS
  "$build/fuzz_$reader" -timeout=1 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/found/$reader-" \
    "${@:2}" "$build/corpus/$reader" "$corpus/$reader" >"$log" 2>&1 || { result="found: $log"; status=1; }
  figure() { sed -n "s/^stat::$1: *//p" "$log"; }
  printf '%-16s %12s %8s %8s %s\n' "$reader" "$(figure number_of_executed_units)" $((SECONDS - begun)) "$(figure peak_rss_mb)" "$result"
done
exit $status
