#!/usr/bin/env bash
# cuda_check.sh CPU CUDA: the program built with LibTorch for CPUs and the one built with LibTorch for CUDA. Checks of the
# latter everything that needs neither a GPU nor a driver: its libraries are found, it connects ranks by NCCL, it
# refuses `training.device: cuda` without a device, and on the CPU it computes the same bits as the former.
set -euo pipefail
cd "$(dirname "$0")/.."
cpu=$1 cuda=$2
export CUDA_VISIBLE_DEVICES=  # hides a GPU, if there is one
say() { printf 'cuda-check: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

libraries=$(ldd -r "$cuda" 2>&1) || true
[[ $libraries == *libtorch_cuda.so* ]] || fail "$cuda is not linked with LibTorch for CUDA"
missing=$(grep -E 'not found|undefined' <<<"$libraries") && fail "$cuda misses"$'\n'"$missing"
[[ $(ldd "$cpu") != *libtorch_cuda.so* ]] || fail "$cpu is linked with LibTorch for CUDA itself: TORCH_BUILD=cpu make"
library=$(dirname "$cuda")/libablate_cuda.so
[ -e "$library" ] || fail "$cuda was compiled without NCCL"
missing=$(ldd -r "$library" 2>&1 | grep -E 'not found|undefined') && fail "$library misses"$'\n'"$missing"
say "$cuda and $library find all their libraries and symbols"

# The program is linked with nothing of CUDA, so that one binary serves both builds of LibTorch.
direct=$(readelf --dynamic "$cuda" | grep -E 'NEEDED.*cuda') && fail "$cuda asks for"$'\n'"$direct"

# Few updates, which meet no expectation.
sed -E '/^expect:/,$d; s/steps: [0-9]+/steps: 60/; s/warmup: [0-9]+/warmup: 10/' \
  experiments/studies/quickstart.yaml >"$work/quickstart.yaml"
quickstart() { "$1" run "$work/quickstart.yaml" --output "$work/$2" "${@:3}" >"$work/log" 2>&1; }

code=0
quickstart "$cuda" refused --set training.device=cuda || code=$?
[ $code = 2 ] && grep -q "there is no CUDA device: this LibTorch is one for CUDA" "$work/log" ||
  { cat "$work/log" >&2; fail "training.device=cuda ended with $code instead of being refused with 2"; }
say "training.device: cuda is refused without a device"

# What the runs leave but times: weights, optimizers, curves, outputs and scores.
digests() {
  cd "$work/$1"
  find . -name '*.safetensors' -o -name 'output-*.txt' | sort | xargs sha256sum
  find . -name metrics.jsonl | sort | while read -r curve; do
    echo "$(sed -E 's/"seconds":[^,}]*,?//' "$curve" | sha256sum) $curve"
  done
  echo "$(grep -v seconds quickstart/results.csv | sha256sum) scores"
}
for build in cpu cuda; do
  quickstart "${!build}" $build || { tail -20 "$work/log" >&2; fail "the quickstart failed with ${!build}"; }
  (digests $build) >"$work/$build.sha256"
done
grep -q model.safetensors "$work/cpu.sha256" || fail "the quickstart left no weights"
diff "$work/cpu.sha256" "$work/cuda.sha256" >&2 || fail "the quickstart differs between $cpu (<) and $cuda (>)"
say "weights, optimizers, curves, outputs and scores of the quickstart are equal bit for bit, in" \
  "$(wc -l <"$work/cpu.sha256") files"
