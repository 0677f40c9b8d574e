#!/usr/bin/env bash
# setup.sh [test|numbers|fuzz|syntax|cuda]: installs the dependencies of the program, and with `test` also those of tests and bench: Debian
# packages, LibTorch (the torch wheel in .venv, of TORCH_VERSION or of the default one; none if TORCH_ROOT or TORCH names another) and the
# source of SentencePiece in the vendor folder; with `fuzz` also clang, with `syntax` the newest clang, with `cuda` a second LibTorch, one
# with CUDA, in .deps/cuda. Prints first what it will install, and installs nothing else. Without the right to install packages it lists
# those that are missing, and ends with 2, as it does if LibTorch for CPUs cannot be had. What has arrived is kept for the next time.
# Has no effect if this script, the wheels it pins and these variables are unchanged.
set -euo pipefail
cd "$(dirname "$0")/.."

pinned_version=$(sed -n 's/^torch==//p' cmake/wheels/cuda.in)
torch_version=${TORCH_VERSION:-$pinned_version}
vendor=${ABLATE_VENDOR:-.deps/vendor}
cpu_wheels=https://download.pytorch.org/whl/cpu/torch/
cpu_wheels_sha256=(  # Linux, x86-64 and aarch64, of Python 3.10 to 3.14; another one is refused
  0555fde6108ca90247ae33d4e1237cbae475c86a223bb2f0f91d9addf1f611bd f5cbb61180a9793d9e12fe115a2310d2600bd449dfb9a01ec5640e21359fa5ea
  f028e428bddee95cdb86e2470254e95c9af629362488550c200ed4793125a817
  6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b 84453b69508ec79902f899c5ed9495acb9e2bbe9fda5f1d5d6f19e3c3842e1a7
  4ca4a9394b0c771238a4f73590fdbbc4debad85ed0fa63d026ae1b085da7d6e2 6f307c2c32d764ffc6ff6893b801fad6d4752f3e67966cb8abf1843427c02604
  3fbf9c9d1f3c10c2d59d04aca426dee9ccc6ceb32d255c61e93acc3b4f75fae6 0b8f7d0423027ae8b90c7977c627f3379f325363a08224dffad9b4b2d684a83d
  d20fa53ee744502fa4c69818a720b05ca0d37abd055d4f6e66cae155114bc691 ca021f9eb2f8345c83fa03e3a04587308afb8df71bd472670b3ece00df58621c)
# What must be here, and its packages in Debian, in Red Hat with EPEL, and in conda-forge. A word with .h or .hpp is a header, one that
# ends with .a a static library, any other a command. The last column names the archive of cmake/vendor.txt that would do as well.
needs="
c++                       g++                 gcc-c++              gxx           -
cmake                     cmake               cmake                cmake         -
ninja                     ninja-build         ninja-build          ninja         -
make                      make                make                 make          -
python3                   python3-venv        python3              python        -
fmt/format.h              libfmt-dev          fmt-devel            fmt           fmt
CLI/CLI.hpp               libcli11-dev        cli11-devel          cli11         cli11
nlohmann/json.hpp         nlohmann-json3-dev  json-devel           nlohmann_json nlohmann_json
protozero/pbf_writer.hpp  libprotozero-dev    protozero-devel      protozero     protozero
libyaml-cpp.a             libyaml-cpp-dev     yaml-cpp-static      -             yaml-cpp
libutf8proc.a             libutf8proc-dev     -                    -             utf8proc
oniguruma.h               libonig-dev         oniguruma-devel      oniguruma     onig
zlib.h                    zlib1g-dev          zlib-devel           zlib          zlib
"
test_packages=(git libgtest-dev python3-jsonschema python3-yaml python3-jinja2 python3-html5lib chromium clang-format clang-tidy patch
  slurmctld slurmd slurm-client munge)
fuzz_packages=(clang libclang-rt-dev)

stage=${1:-build}
extra_packages=()
[ "$stage" != test ] || extra_packages=("${test_packages[@]}")
[ "$stage" != fuzz ] || extra_packages=("${fuzz_packages[@]}")
newest_clang() { apt-cache search --names-only '^clang-[0-9]+$' 2>/dev/null | cut -d' ' -f1 | sort -V | tail -1; }
[ "$stage" != syntax ] || mapfile -t extra_packages < <(newest_clang)
want=$({ cat cmake/setup.sh cmake/vendor.txt cmake/wheels/*.txt; echo "${TORCH_ROOT:-} ${TORCH:-} ${TORCH_VERSION:-} ${TORCH_BUILD:-}"; } | sha256sum)
[ "$(cat ".deps/stamp-$stage" 2>/dev/null)" = "$want" ] && exit 0

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
refuse() { say "$*"; exit 2; }
[ -w . ] || refuse "$PWD cannot be written to: copy the checkout to a folder of your own"
[[ $stage =~ ^(build|test|numbers|fuzz|syntax|cuda)$ ]] || refuse "there is no stage $stage; the stages are build, test, numbers, fuzz, syntax and cuda"
# Output of pip is shown if it fails, without a line for each of its retries.
export PIP_RESUME_RETRIES=5  # read by pip 25.1 and later
pip() {
  .venv/bin/python -m pip "$1" --quiet --disable-pip-version-check "${@:2}" >"$work/pip" 2>&1 && return
  grep -v '^WARNING: ' "$work/pip" | tail -5 >&2
  return 1
}
# The same with a line for each wheel that is downloaded, and its size.
pip_aloud() {
  .venv/bin/python -m pip "$1" --disable-pip-version-check --progress-bar off "${@:2}" 2>"$work/pip" |
    sed -un 's/^ *Downloading \(.* (.*)\)$/setup: downloading \1/p' >&2 && return
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

# Whether this machine has a command, a header or a static library, or the archive that takes its place.
has() {  # what, archive
  [ "$2" = - ] || ! grep -q "^$2 " cmake/vendor.txt || [ ! -f "$vendor/$(awk -v name="$2" '$1 == name { print $5 }' cmake/vendor.txt)" ] ||
    return 0
  case $1 in
    *.h | *.hpp) echo "#include <$1>" | "${CXX:-c++}" -E -x c++ ${CONDA_PREFIX:+"-I$CONDA_PREFIX/include"} - >/dev/null 2>&1 ;;
    *.a) [[ $("${CXX:-c++}" -print-file-name="$1" 2>/dev/null </dev/null) == */* ]] ;;
    c++) command -v "${CXX:-c++}" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}
# A torch of our own, and what tests read, need an environment of Python.
needs_venv() { [ -z "${TORCH_ROOT:-}${TORCH:-}" ] || [ "$stage" != build ]; }
may_install() { command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; }

missing=() red_hat=() conda=() archives=()
find_missing() {
  local what debian other third archive
  while read -r what debian other third archive; do
    [ -n "$what" ] && ! has "$what" "$archive" || continue
    missing+=("$debian") red_hat+=("$other") conda+=("$third")
    [ "$archive" = - ] || archives+=("$archive")
  done <<<"$needs"
  ! needs_venv || [ -x .venv/bin/python ] || [[ " ${missing[*]} " == *" python3-venv "* ]] || python3 -c 'import ensurepip' 2>/dev/null ||
    { missing+=(python3-venv) red_hat+=(python3) conda+=(python); }
  command -v dpkg-query >/dev/null || return 0
  local package
  for package in ca-certificates "${extra_packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
}

# The one list, for those who have to ask somebody else.
say_missing() {
  offer() {  # name of the system, command, packages
    local names
    names=$(printf '%s\n' "${@:3}" | grep -vx -e - | sort -u | paste -sd ' ')
    [ -z "$names" ] || say "$(printf '  %-15s  %s %s' "$1" "$2" "$names")"
  }
  say "these packages are missing, and this user may not install them:"
  offer "Debian, Ubuntu" "apt-get install" "${missing[@]}"
  offer "Red Hat, Fedora" "dnf install" "${red_hat[@]}"
  offer "conda" "conda install -c conda-forge" "${conda[@]}"
  [ ${#archives[@]} -eq 0 ] || say "  or, instead of ${archives[*]}, the archive that \`make vendor\` packs, unpacked in $vendor"
  exit 2
}

plan_packages() {
  find_missing
  [ ${#missing[@]} -eq 0 ] && return
  may_install || say_missing
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
  [ -z "${TORCH_ROOT:-}${TORCH:-}" ] || return 0  # CMake says whether there is one
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
    *) refuse "TORCH_BUILD=$build is neither cpu nor cuda" ;;
  esac
}

# Digests are known of the default version alone; others are taken as the index gives them.
cpu_digests=()
[ "$torch_version" != "$pinned_version" ] || cpu_digests=("${cpu_wheels_sha256[@]}")

# PyPI has the CUDA build as $torch_version, pytorch.org the CPU build as $torch_version+cpu. The latter needs none
# of its Python dependencies in order to be linked with.
install_cpu_build() {  # options of pip
  pip install --retries 1 --no-deps "$@" --requirement <(
    printf 'torch==%s+cpu' "$torch_version"
    [ ${#cpu_digests[@]} -eq 0 ] || printf ' --hash=sha256:%s' "${cpu_digests[@]}")
}

# Where pip has been told of a wheel, that is taken.
bring_cpu_build() {
  install_cpu_build 2>/dev/null && return
  local why
  why=$(.venv/bin/python cmake/wheels/fetch.py "$cpu_wheels" "$torch_version" .deps/wheels "${cpu_digests[@]}") || {
    say "LibTorch $torch_version for the CPU could not be downloaded from $cpu_wheels: $why"
    say "what has arrived is kept, and the same command goes on from there; or it takes another LibTorch if one of these stands before it:"
    say "  TORCH_BUILD=cuda             the build on PyPI, which computes on the CPU too: 2744 MB instead of 192 MB"
    say "  TORCH=python3                the torch of that Python"
    say "  TORCH_ROOT=/path/to/libtorch the one in that folder"
    exit 2
  }
  install_cpu_build --no-index --find-links .deps/wheels
  rm -r .deps/wheels
}

# With a folder for what has arrived where pip has none, as in many containers.
install_cuda_build() {
  local cache=()
  .venv/bin/python -m pip cache dir >/dev/null 2>&1 || cache=(--cache-dir .deps/pip)
  if [ "$torch_version" = "$pinned_version" ]; then
    pip_aloud install --require-hashes --requirement cmake/wheels/cuda.txt "${cache[@]}" "$@"
  else pip_aloud install "${cache[@]}" "torch===$torch_version" 'cuda-toolkit[cccl,crt]'; fi
  rm -rf .deps/pip
}

install_torch() {
  case $torch_build in
    cpu) bring_cpu_build ;;
    cuda) install_cuda_build ;;
  esac
}

# Whether .venv has the versions of a list.
has_pinned() { pip install --dry-run --no-index --require-hashes --requirement "cmake/wheels/$1.txt" >/dev/null 2>&1; }

# Beside a TORCH_ROOT tests do without Python packages: those that need one are skipped.
has_wheels() { [ "$stage" != test ] || [ -n "${TORCH_ROOT:-}" ] || has_pinned test; }

has_peers() { [ "$stage" != numbers ] || has_pinned numbers; }

has_cuda() { [ "$stage" != cuda ] || [ "$(cat .deps/cuda/version 2>/dev/null)" = "$pinned_version" ]; }

install_cuda() {
  rm -rf .deps/cuda
  torch_version=$pinned_version install_cuda_build --no-compile --target .deps/cuda
  echo "$pinned_version" >.deps/cuda/version
}

plan_packages
plan_torch
has sentencepiece sentencepiece || will 4 "SentencePiece, as source, into $vendor"
has_cuda || will 2744 "LibTorch $pinned_version with CUDA into .deps/cuda, where it takes 4.8 GB"
has_peers || will 120 "the references of our metrics and statistics, into .venv: $(paste -sd ' ' cmake/wheels/numbers.in)"
has_wheels || will 57 "Python packages that tests and bench read, into .venv"
if [ ${#plan[@]} -gt 0 ]; then
  say "downloading about $megabytes MB:"
  printf 'setup:   %s\n' "${plan[@]}" >&2
fi
free=$(df -Pm . | awk 'NR == 2 { print $4 }')
[ "$free" -ge $((3 * megabytes)) ] ||  # what is downloaded, and what it becomes
  refuse "$PWD has $free MB free, and this takes about $((3 * megabytes)) MB"
install_packages
! needs_venv || [ -x .venv/bin/python ] || python3 -m venv .venv
install_torch
has sentencepiece sentencepiece || cmake/vendor.sh "$vendor" sentencepiece
has_cuda || install_cuda
has_wheels || install_pinned test
has_peers || install_pinned numbers
mkdir -p .deps
echo "$want" | tee .deps/stamp-build >".deps/stamp-$stage"
say "done"
