#!/usr/bin/env bash
# test.sh WHEEL: tests the Python package of a wheel, its types and its notebook in a fresh environment, with the torch that the wheel was
# built with where that is the torch of .venv, and else with PyPI's.
set -euo pipefail
wheel=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$(ls .venv/bin/python 2>/dev/null || echo python3)
"$python" -m venv "$work/env"
pip() { "$work/env/bin/pip" install --quiet --disable-pip-version-check "$@"; }
torch=$(ls -d .venv/lib/python3*/site-packages/torch 2>/dev/null || true)
if [ -n "$torch" ]; then  # seen, not copied: it is large
  for part in "$(dirname "$torch")"/{torch,torchgen,torch-*,functorch}; do
    [ ! -e "$part" ] || ln -s "$(realpath "$part")" "$work"/env/lib/python3*/site-packages/
  done
fi
pip "$wheel[notebook,translate]" pytest mypy nbclient ipykernel matplotlib
(cd python && "$work/env/bin/mypy" --strict --ignore-missing-imports --allow-untyped-calls --cache-dir "$work/mypy" -p ablate_lab)
mkdir "$work/tests"
cp -r tests/python/*.py docs/python.ipynb docs/python.md "$work/tests"
cd "$work/tests"
PATH="$work/env/bin:$PATH" "$work/env/bin/pytest" -q -p no:cacheprovider "${@:2}"
