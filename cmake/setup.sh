#!/usr/bin/env bash
# setup.sh [test|numbers|fuzz|cuda]: installs the dependencies of the program, and with `test` also those of tests and
# bench: Debian packages, LibTorch (the torch wheel in .venv, or TORCH_ROOT) and a static, hidden SentencePiece in
# .deps; with `fuzz` also clang, with `cuda` a second LibTorch, one with CUDA, in .deps/cuda. Prints first what it will
# install. Has no effect if this script, the wheels it pins, TORCH_ROOT and TORCH_BUILD are unchanged.
set -euo pipefail
cd "$(dirname "$0")/.."

torch_version=$(sed -n 's/^torch==//p' cmake/wheels/cuda.in)
sentencepiece_version=$(sed -n 's/^sentencepiece==//p' cmake/wheels/test.in)
cpu_wheels=https://download.pytorch.org/whl/cpu/torch/
cpu_wheels_sha256=(  # Linux, x86-64 and aarch64, of Python 3.10 to 3.14; another one is refused
  0555fde6108ca90247ae33d4e1237cbae475c86a223bb2f0f91d9addf1f611bd f5cbb61180a9793d9e12fe115a2310d2600bd449dfb9a01ec5640e21359fa5ea
  f028e428bddee95cdb86e2470254e95c9af629362488550c200ed4793125a817
  6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b 84453b69508ec79902f899c5ed9495acb9e2bbe9fda5f1d5d6f19e3c3842e1a7
  4ca4a9394b0c771238a4f73590fdbbc4debad85ed0fa63d026ae1b085da7d6e2 6f307c2c32d764ffc6ff6893b801fad6d4752f3e67966cb8abf1843427c02604
  3fbf9c9d1f3c10c2d59d04aca426dee9ccc6ceb32d255c61e93acc3b4f75fae6 0b8f7d0423027ae8b90c7977c627f3379f325363a08224dffad9b4b2d684a83d
  d20fa53ee744502fa4c69818a720b05ca0d37abd055d4f6e66cae155114bc691 ca021f9eb2f8345c83fa03e3a04587308afb8df71bd472670b3ece00df58621c)
packages=(ca-certificates cmake ninja-build g++ make git python3-venv
  libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev libutf8proc-dev zlib1g-dev pkg-config
  libprotozero-dev)
test_packages=(libgtest-dev python3-jsonschema python3-yaml python3-html5lib chromium clang-format clang-tidy patch
  slurmctld slurmd slurm-client munge)
fuzz_packages=(clang libclang-rt-dev)

stage=${1:-build}
[ "$stage" != test ] || packages+=("${test_packages[@]}")
[ "$stage" != fuzz ] || packages+=("${fuzz_packages[@]}")
want=$({ cat cmake/setup.sh cmake/wheels/*.txt; echo "${TORCH_ROOT:-} ${TORCH_BUILD:-}"; } | sha256sum)
[ "$(cat ".deps/stamp-$stage" 2>/dev/null)" = "$want" ] && exit 0

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
[[ $stage =~ ^(build|test|numbers|fuzz|cuda)$ ]] || fail "there is no stage $stage; the stages are build, test, numbers, fuzz and cuda"
# Output of pip is shown if it fails, without a line for each of its retries.
pip() {
  .venv/bin/python -m pip "$1" --quiet --disable-pip-version-check "${@:2}" >"$work/pip" 2>&1 && return
  grep -v '^WARNING: ' "$work/pip" | tail -5 >&2
  return 1
}
# Installs a list of wheels in the versions, and of the SHA-256 digests, that cmake/wheels/lock.sh wrote.
install_pinned() { pip install --require-hashes --requirement "cmake/wheels/$1.txt" "${@:2}"; }
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "${@:2}" >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; fail "$1"; }; }

plan=()
megabytes=0
will() { plan+=("$2 ($1 MB)"); megabytes=$((megabytes + $1)); }

missing=()
plan_packages() {
  command -v dpkg-query >/dev/null || { say "this is no Debian, so packages are left to you: ${packages[*]}"; return; }
  local package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
    fail "these Debian packages are missing: ${missing[*]}; install them or run as root"
  say "reading the lists of Debian packages, since some are missing"
  as_root apt-get update -qq
  will "$(apt-get install --print-uris -qq --no-install-recommends "${missing[@]}" |
    awk '{ bytes += $3 } END { printf "%d", bytes / 1e6 + 0.5 }')" "the Debian packages ${missing[*]}"
}

install_packages() {
  [ ${#missing[@]} -eq 0 ] || quietly "the Debian packages could not be installed" \
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# A torch that .venv has is kept, whatever its build, unless TORCH_BUILD names the other one.
torch_build=
plan_torch() {
  if [ -n "${TORCH_ROOT:-}" ]; then
    [ -f "$TORCH_ROOT/lib/libtorch.so" ] || fail "TORCH_ROOT=$TORCH_ROOT holds no LibTorch"
    return
  fi
  local found build=${TORCH_BUILD:-} why="as TORCH_BUILD asks"
  found=$(.venv/bin/python -c "from importlib.metadata import version; print(version('torch'))" 2>/dev/null || true)
  case "$found $build" in
    "$torch_version+cpu " | "$torch_version+cpu cpu" | "$torch_version " | "$torch_version cuda") return ;;
  esac
  if [ -z "$build" ]; then
    build=cpu why="since no NVIDIA driver was found"
    if [ -e /proc/driver/nvidia ] || command -v nvidia-smi >/dev/null; then build=cuda why="since an NVIDIA driver was found"; fi
  fi
  torch_build=$build
  case $build in
    cpu) will 192 "LibTorch $torch_version for the CPU alone into .venv, $why" ;;
    cuda) will 2744 "LibTorch $torch_version with CUDA into .venv, $why" ;;
    *) fail "TORCH_BUILD=$build is neither cpu nor cuda" ;;
  esac
}

# PyPI has the CUDA build as $torch_version, pytorch.org the CPU build as $torch_version+cpu. The latter needs none
# of its Python dependencies in order to be linked with.
pinned_torch() {
  printf 'torch==%s+cpu' "$torch_version"
  printf ' --hash=sha256:%s' "${cpu_wheels_sha256[@]}"
}

install_torch() {
  case $torch_build in
    cpu) pip install --retries 1 --no-deps --find-links "$cpu_wheels" --require-hashes --requirement <(pinned_torch) 2>/dev/null ||
      { say "no CPU build of a known digest could be downloaded; taking the build on PyPI (2744 MB), which computes on the CPU too";
        install_pinned cuda; } ;;
    cuda) install_pinned cuda ;;
  esac
}

sentencepiece_prefix="$PWD/.deps/sentencepiece"
has_sentencepiece() {
  [ -f "$sentencepiece_prefix/lib/libsentencepiece_train.a" ] &&
    [ "$(cat "$sentencepiece_prefix/version" 2>/dev/null)" = "$sentencepiece_version" ]
}

# A shared SentencePiece beside LibTorch clashes in protobuf and gflags symbols: static, and nothing exported.
install_sentencepiece() {
  install_pinned build --no-deps --target "$work/python"
  local name="sentencepiece-$sentencepiece_version"
  PYTHONPATH="$work/python" pip download --no-deps --no-build-isolation --no-binary sentencepiece --dest "$work" --require-hashes \
    --requirement <(sed -n '/^sentencepiece==/,/[^\\]$/p' cmake/wheels/test.txt)
  tar -xzf "$work/$name.tar.gz" -C "$work"
  local source="$work/$name/sentencepiece"
  quietly "SentencePiece could not be configured" cmake -S "$source" -B "$work/build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DSPM_ENABLE_SHARED=OFF -DSPM_ENABLE_TCMALLOC=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_C_VISIBILITY_PRESET=hidden \
    -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON
  quietly "SentencePiece could not be built" cmake --build "$work/build" --target sentencepiece-static sentencepiece_train-static
  rm -rf "$sentencepiece_prefix" && mkdir -p "$sentencepiece_prefix"/{lib,include}
  cp "$work/build/src/"libsentencepiece{,_train}.a "$sentencepiece_prefix/lib/"
  cp "$source/src/"sentencepiece_{processor,trainer}.h "$sentencepiece_prefix/include/"
  echo "$sentencepiece_version" >"$sentencepiece_prefix/version"
}

# Whether .venv has the versions of a list.
has_pinned() { pip install --dry-run --no-index --require-hashes --requirement "cmake/wheels/$1.txt" >/dev/null 2>&1; }

# Beside a TORCH_ROOT tests do without Python packages: those that need one are skipped.
has_wheels() { [ "$stage" != test ] || [ -n "${TORCH_ROOT:-}" ] || has_pinned test; }

has_peers() { [ "$stage" != numbers ] || has_pinned numbers; }

has_cuda() { [ "$stage" != cuda ] || [ "$(cat .deps/cuda/version 2>/dev/null)" = "$torch_version" ]; }

install_cuda() {
  rm -rf .deps/cuda
  install_pinned cuda --no-cache-dir --no-compile --target .deps/cuda
  echo "$torch_version" >.deps/cuda/version
}

plan_packages
plan_torch
has_sentencepiece || will 4 "SentencePiece $sentencepiece_version, built from source in .deps"
has_cuda || will 2744 "LibTorch $torch_version with CUDA into .deps/cuda, where it takes 4.8 GB"
has_peers || will 120 "the references of our metrics and statistics, into .venv: $(paste -sd ' ' cmake/wheels/numbers.in)"
has_wheels || will 57 "Python packages that tests and bench read, into .venv"
if [ ${#plan[@]} -gt 0 ]; then
  say "downloading about $megabytes MB:"
  printf 'setup:   %s\n' "${plan[@]}" >&2
fi
install_packages
[ -x .venv/bin/python ] || python3 -m venv .venv
install_torch
has_sentencepiece || install_sentencepiece
has_cuda || install_cuda
has_wheels || install_pinned test
has_peers || install_pinned numbers
mkdir -p .deps
echo "$want" | tee .deps/stamp-build >".deps/stamp-$stage"
say "done"
