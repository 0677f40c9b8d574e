#!/usr/bin/env bash
# Brings every dependency: Debian packages, LibTorch (the torch wheel in .venv, or TORCH_ROOT) and a
# static, hidden SentencePiece in .deps. Does nothing when this script and TORCH_ROOT are unchanged.
set -euo pipefail
cd "$(dirname "$0")/.."

torch_version=2.13.0
tensorboard_version=2.21.0
sentencepiece_version=0.2.1
sentencepiece_sha256=8138cec27c2f2282f4a34d9a016e3374cd40e5c6e9cb335063db66a0a3b71fad
packages=(ca-certificates cmake ninja-build g++ make git python3-venv clang-format
  libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev libicu-dev zlib1g-dev libssl-dev
  libboost-dev libprotozero-dev libgtest-dev
  python3-jsonschema python3-yaml python3-html5lib chromium)

stamp=.deps/stamp
want=$({ cat "$0"; echo "${TORCH_ROOT:-}"; } | sha256sum)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && exit 0

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

install_packages() {
  local missing=()
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "these Debian packages are missing: ${missing[*]}; install them or run as root"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

install_torch() {
  [ -x .venv/bin/python ] || python3 -m venv .venv
  if [ -n "${TORCH_ROOT:-}" ]; then
    [ -f "$TORCH_ROOT/share/cmake/Torch/TorchConfig.cmake" ] || fail "TORCH_ROOT=$TORCH_ROOT holds no LibTorch"
    return
  fi
  .venv/bin/python -c "import sentencepiece, safetensors, tensorboard, torch, sys
sys.exit(torch.__version__.split('+')[0] != '$torch_version')" 2>/dev/null && return
  say "installing torch $torch_version and what tests read exports with into .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "torch==$torch_version" "numpy<3" \
    "sentencepiece==$sentencepiece_version" "safetensors<1" "tensorboard==$tensorboard_version"
}

# A shared SentencePiece beside LibTorch clashes in protobuf and gflags symbols: static, and nothing exported.
install_sentencepiece() {
  local prefix="$PWD/.deps/sentencepiece"
  [ -f "$prefix/lib/libsentencepiece_train.a" ] && [ "$(cat "$prefix/version" 2>/dev/null)" = "$sentencepiece_version" ] && return
  say "building SentencePiece $sentencepiece_version"
  local work
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary sentencepiece \
    --dest "$work" "sentencepiece==$sentencepiece_version"
  local archive="$work/sentencepiece-$sentencepiece_version.tar.gz"
  echo "$sentencepiece_sha256  $archive" | sha256sum --check --status || fail "sentencepiece $sentencepiece_version has an unexpected checksum"
  tar -xzf "$archive" -C "$work"
  cmake -S "$work/sentencepiece-$sentencepiece_version/sentencepiece" -B "$work/build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DSPM_ENABLE_SHARED=OFF -DSPM_ENABLE_TCMALLOC=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_C_VISIBILITY_PRESET=hidden \
    -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib >"$work/log" 2>&1 ||
    { tail -20 "$work/log" >&2; fail "SentencePiece could not be configured"; }
  cmake --build "$work/build" --target sentencepiece-static sentencepiece_train-static >"$work/log" 2>&1 ||
    { tail -20 "$work/log" >&2; fail "SentencePiece could not be built"; }
  rm -rf "$prefix" && mkdir -p "$prefix/lib" "$prefix/include"
  cp "$work/build/src/libsentencepiece.a" "$work/build/src/libsentencepiece_train.a" "$prefix/lib/"
  cp "$work/sentencepiece-$sentencepiece_version/sentencepiece/src/"sentencepiece_{processor,trainer}.h "$prefix/include/"
  echo "$sentencepiece_version" >"$prefix/version"
}

mkdir -p .deps
install_packages
install_torch
install_sentencepiece
echo "$want" >"$stamp"
say "done"
