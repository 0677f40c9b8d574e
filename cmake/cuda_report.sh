#!/usr/bin/env bash
# cuda_report.sh NAME COMMAND...: runs a command on this machine's GPU and prints, behind what it says, a report to paste: the card, the
# driver, LibTorch, the commit and the last lines of the command, which build/NAME.txt keeps.
set -uo pipefail
cd "$(dirname "$0")/.."
name=$1; shift
doctor=$(build/ablate doctor --output build)
device=$(sed -n 's/^ok *CUDA *//p' <<<"$doctor")
[[ $device == [1-9]* ]] || { echo "$name: no CUDA device: ${device#none; }" >&2; exit 2; }

"$@" 2>&1 | tee "build/$name.log"
code=$?
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | sed -n 1p)
commit=$(git describe --always --dirty 2>/dev/null)
{
  printf '%s\n' "ablate $name: exit code $code" "device: $device" "driver: ${driver:-unknown}" \
    "LibTorch: $(sed -n 's/^ok *LibTorch *//p' <<<"$doctor")" "commit: ${commit:-unknown}" ""
  tail -n 60 "build/$name.log"
} >"build/$name.txt"
printf '\n---- a report to paste, also in build/%s.txt ----\n' "$name"
cat "build/$name.txt"
exit $code
