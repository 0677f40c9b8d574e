#!/usr/bin/env bash
# repair.sh WHEEL FOLDER: writes into the folder the wheel with the tag of the oldest glibc that it runs on (manylinux_2_N). Libraries that
# manylinux does not have go into the wheel; those of LibTorch and CUDA come with the torch that the wheel asks for.
set -euo pipefail
exec auditwheel repair --exclude 'libtorch*.so' --exclude 'libc10*.so' --exclude 'libgomp*.so*' --exclude 'libcu*.so*' \
  --exclude 'libnccl.so*' --wheel-dir "$2" "$1"
