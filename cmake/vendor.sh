#!/usr/bin/env bash
# vendor.sh FOLDER [NAME...]: downloads those archives of cmake/vendor.txt that FOLDER lacks, or the named ones of them, by the clients
# of their registries: pip for PyPI's, apt for Debian's source packages, which needs neither root nor a change of the machine's lists.
# Every archive has the SHA-256 of the list, or is not kept. Ends with 2 if one cannot be had.
set -euo pipefail
list=$(cd "$(dirname "$0")" && pwd)/vendor.txt
pins=$(dirname "$list")/wheels
folder=${1:?usage: vendor.sh FOLDER [NAME...]}
shift
say() { printf 'vendor: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }
mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ] || fail "$folder cannot be written to; name another folder by ABLATE_VENDOR"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python=python3
[ ! -x "$pins/../../.venv/bin/python" ] || python=$(cd "$pins/../../.venv/bin" && pwd)/python
pip() { "$python" -m pip "$1" --quiet --disable-pip-version-check --no-deps "${@:2}" 2>"$work/pip" || { grep -v '^WARNING' "$work/pip" >&2; return 1; }; }

# A source package is built by setuptools as soon as pip asks for its name.
from_pypi() {  # package, SHA-256, archive
  local source=()
  if [[ $3 == *.tar.gz ]]; then
    pip install --target "$work/python" --require-hashes --requirement "$pins/build.txt"
    source=(--no-build-isolation --no-binary :all:)
  fi
  PYTHONPATH="$work/python" pip download "${source[@]}" --dest "$work/got" --require-hashes \
    --requirement <(printf '%s --hash=sha256:%s\n' "$1" "$2")
}

# Debian's lists of sources, read from where this machine has its packages from, into a folder of their own.
apt_options=()
read_sources() {
  [ ${#apt_options[@]} -eq 0 ] || return 0
  command -v apt-get >/dev/null || fail "Debian's source packages need apt: fill the folder by \`make vendor\` on a Debian, and copy it"
  local site
  site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | grep -m 1 '/debian$') ||
    fail "this machine's apt knows no archive of Debian: fill the folder by \`make vendor\` on a Debian, and copy it"
  mkdir -p "$work"/apt/{lists,cache}/partial
  printf "deb-src [trusted=yes] $site %s main\n" trixie bookworm >"$work/apt/sources.list"  # trusted: digests are ours
  apt_options=(-qq -o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o APT::Sandbox::User=)
  say "reading Debian's lists of sources (20 MB)"
  apt-get "${apt_options[@]}" update >"$work/log" 2>&1 || { tail -3 "$work/log" >&2; fail "Debian's lists of sources cannot be read"; }
}

from_debian() {  # package/release, SHA-256, archive
  read_sources
  local url
  url=$(apt-get "${apt_options[@]}" --print-uris source "$1" 2>"$work/log" | awk -v file="$3" '$2 == file { print $1; exit }' | tr -d "'")
  [ -n "$url" ] || { cat "$work/log" >&2; say "Debian's $1 has no $3"; return 1; }
  mkdir -p "$work/got"
  /usr/lib/apt/apt-helper "${apt_options[@]}" download-file "$url" "$work/got/$3" "SHA256:$2" >"$work/log" 2>&1 ||
    { tail -2 "$work/log" >&2; return 1; }
}

got() { [ "$(sha256sum <"$1" | cut -c1-64)" = "$2" ]; }

while read -r name _ package digest archive; do
  [[ $name != \#* ]] && { [ $# -eq 0 ] || [[ " $* " == *" $name "* ]]; } || continue
  [ ! -f "$folder/$archive" ] || { got "$folder/$archive" "$digest" && continue; say "$folder/$archive has another SHA-256: replaced"; }
  "from_${package%%:*}" "${package#*:}" "$digest" "$archive" || fail "$archive cannot be downloaded"
  got "$work/got/$archive" "$digest" || fail "$archive has another SHA-256 than cmake/vendor.txt says"
  mv "$work/got/$archive" "$folder/$archive" || fail "there is no room for $archive in $folder"
done <"$list"
