#!/usr/bin/env bash
# torch_check.sh [VERSION...]: builds the program and its core tests against each LibTorch, the oldest, the default and the newest
# release that pip finds unless versions are named, and runs the quickstart and the tests. A program that meets the LibTorch of
# another version must say so. LibTorch and builds stay in .deps/torch-VERSION and build-torch-VERSION.
set -euo pipefail
cd "$(dirname "$0")/.."
cpu_wheels=$(sed -n 's/^cpu_wheels=//p' cmake/setup.sh)
default=$(sed -n 's/^torch==//p' cmake/wheels/cuda.in)
tests=(models_test training_test run_test)
say() { printf 'torch-check: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
python=.venv/bin/python
log=$(mktemp)
trap 'rm -f "$log"' EXIT
newest() { "$python" -m pip index versions torch 2>/dev/null | sed -n 's/^torch (\(.*\))/\1/p'; }
[ $# -gt 0 ] || set -- 2.11.0 "$default" "$(newest)"

# With the CPU build if there is one, which needs no other package.
bring() {
  [ ! -f ".deps/torch-$1/torch/lib/libtorch.so" ] || return 0
  local had
  had=$("$python" -c "from importlib.metadata import version; print(version('torch'))")
  if [ "${had%+cpu}" = "$1" ]; then
    ln -sfn "$(cd .venv/lib/python3*/site-packages && pwd)" ".deps/torch-$1"
    return
  fi
  say "downloading LibTorch $1 into .deps/torch-$1"
  local pip=("$python" -m pip install --quiet --disable-pip-version-check --no-compile --no-cache-dir --target ".deps/torch-$1")
  "${pip[@]}" --retries 1 --no-deps --find-links "$cpu_wheels" "torch==$1+cpu" 2>"$log" && return
  say "$cpu_wheels gives no CPU build of $1; taking the one on PyPI (2.7 GB): $(grep -v '^WARNING: Retrying' "$log" | tail -1)"
  "${pip[@]}" "torch===$1"
}

check() {
  local build=build-torch-$1
  bring "$1"
  mkdir -p "$build"
  cmake --preset release -B "$build" -DTORCH_ROOT="$PWD/.deps/torch-$1/torch" -DABLATE_WERROR=ON >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; fail "$1 cannot be configured"; }
  cmake --build "$build" --target ablate "${tests[@]}" || fail "$1 does not compile"
  rm -rf "$build/runs"
  "$build/ablate" run experiments/studies/quickstart.yaml --output "$build/runs" >"$build/quickstart.log" 2>&1 ||
    { tail -20 "$build/quickstart.log"; fail "the quickstart fails with $1"; }
  grep -rq "\"libtorch\": \"$1\"" "$build/runs" || fail "the quickstart does not record LibTorch $1"
  local wanted
  wanted=$(IFS='|'; echo "${tests[*]}")
  ctest --test-dir "$build" --output-on-failure -R "^($wanted)\$" || fail "tests fail with $1"
  say "$1: compiles, passes ${tests[*]} and the quickstart"
}

# $1 was built with another version than $2.
meets() {
  local said code=0
  said=$(LD_LIBRARY_PATH=$PWD/.deps/torch-$2/torch/lib "build-torch-$1/ablate" --version 2>&1) || code=$?
  [ $code = 2 ] && [[ $said == *"built with LibTorch $1 and found version $2,"* ]] ||
    fail "built with $1, meeting $2 it ends with $code and says: $said"
}

for version; do check "$version"; done
for built; do
  for met; do [ "$built" = "$met" ] || meets "$built" "$met"; done
done
say "done: $*"
