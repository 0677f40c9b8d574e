#!/usr/bin/env bash
# lock.sh [--upgrade]: writes beside each list of Python packages (*.in) the versions that setup.sh installs for it, with their SHA-256
# digests (*.txt), for Python 3.10 and later on every platform. Versions that are written already are kept, unless asked to upgrade.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work" && "$work/bin/pip" install --quiet uv
for list in *.in; do
  "$work/bin/uv" pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-annotate \
    --custom-compile-command cmake/wheels/lock.sh "$@" --output-file "${list%.in}.txt" "$list"
done
sed -i 's/^torch==/torch===/' cuda.txt  # 2.13.0+cpu, which == lets pass, has no CUDA
