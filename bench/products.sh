#!/usr/bin/env bash
# Packed products beside LibTorch's (MKL, oneDNN), in GFLOP/s on one thread, on every instruction set: products.sh [build]
set -euo pipefail
program=${1:-build}/bench_products
echo "| allowed | rows x width x outputs | LibTorch fp32 | fp32 | bf16 |"
echo "|---|---|---:|---:|---:|"
ATEN_CPU_CAPABILITY=default MKL_ENABLE_INSTRUCTIONS=SSE4_2 ONEDNN_MAX_CPU_ISA=SSE41 "$program"
ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 ONEDNN_MAX_CPU_ISA=AVX2 "$program"
ATEN_CPU_CAPABILITY=avx512 "$program"
