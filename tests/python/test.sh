#!/usr/bin/env bash
# test.sh WHEEL: installs a wheel as docs/python.md prints it, and tests the Python package, its types and its notebook there. The notebook
# has nothing besides; what tests need stands in another environment. The torch is that of .venv where the wheel fits it, and else PyPI's.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work"
cd "$(dirname "$0")/../.."
python=$(ls .venv/bin/python 2>/dev/null || echo python3)
for name in ablate tools; do "$python" -m venv "$work/$name"; done
packages=$(echo "$work"/ablate/lib/python3*/site-packages)
torch=$(ls -d .venv/lib/python3*/site-packages/torch 2>/dev/null || true)
if [ -n "$torch" ]; then  # seen, not copied: it is large
  for part in "$(dirname "$torch")"/{torch,torchgen,torch-*,functorch}; do
    [ ! -e "$part" ] || ln -s "$(realpath "$part")" "$packages"
  done
fi
commands=$(awk '/^```sh$/ { on = 1; next } on && /^```$/ { exit } on' docs/python.md)
(cd "$work" && PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 bash -ec "$commands")
"$work/tools/bin/pip" install --quiet --disable-pip-version-check mypy nbclient
tools=$(echo "$work"/tools/lib/python3*/site-packages)
echo "$packages" >"$tools/ablate.pth"
(cd python && "$work/tools/bin/mypy" --strict --ignore-missing-imports --allow-untyped-calls --cache-dir "$work/mypy" -p ablate_lab)
cd tests/python
PLAIN="$work/ablate/bin/python" PATH="$work/ablate/bin:$PATH" "$work/tools/bin/python" -B -m unittest "${@:2}"
