#!/usr/bin/env bash
# tarball.sh WHEEL FOLDER: writes FOLDER/ablate-VERSION-MACHINE.tar.gz, which runs where it is unpacked, without Python, network or root: the
# program, studies and documents of the wheel beside the libraries of the LibTorch that it was built with, in the layout of site-packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
wheel=$1 folder=$2
libraries=$(python3 cmake/wheels/libtorch.py)/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=ablate-$(basename "$wheel" | cut -d- -f2)-$(uname -m)
root=$work/$name
mkdir -p "$root/bin" "$root/lib/torch/lib" "$folder"
python3 -m zipfile -e "$wheel" "$root/lib"
rm -rf "$root"/lib/ablate_lab/*.py "$root/lib/ablate_lab/py.typed" "$root"/lib/*.dist-info  # what is for Python
chmod +x "$root/lib/ablate_lab/bin/ablate"
[ ! -e "$libraries/libtorch_cuda.so" ] ||
  { echo "tarball: $libraries is for CUDA and needs NVIDIA's libraries besides; take a LibTorch for CPUs: TORCH_BUILD=cpu make" >&2; exit 2; }

# Those of LibTorch's folder that the program loads, directly or not.
for library in $(ldd "$libraries/libtorch.so" | grep -o "$libraries/[^ ]*") "$libraries/libtorch.so"; do
  cp "$library" "$root/lib/torch/lib/"
done
for licences in "$libraries"/../../torch-*.dist-info/licenses; do
  [ ! -d "$licences" ] || cp -r "$licences" "$root/lib/torch/licences"
done
cat >"$root/bin/ablate" <<'LAUNCHER'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../lib/ablate_lab/bin/ablate" "$@"
LAUNCHER
chmod +x "$root/bin/ablate"
tar --create --gzip --file "$folder/$name.tar.gz" --owner 0 --group 0 --directory "$work" "$name"
echo "$folder/$name.tar.gz"
