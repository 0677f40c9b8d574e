#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

/// libablate_nccl.so, the part of the program that is compiled against NCCL and needs a LibTorch
/// for CUDA. It lies beside the program and is loaded when CUDA devices are connected.
namespace ablate::training::nccl {

constexpr const char* kLibrary = "libablate_nccl.so";
constexpr const char* kMakeGroup = "ablate_nccl_make_group";

/// The type of kMakeGroup: a new group of two by NCCL, of which this process is `rank`. The caller
/// owns the result. Throws as c10d::ProcessGroupNCCL.
using MakeGroup = c10d::Backend*(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                 std::chrono::milliseconds timeout);

}  // namespace ablate::training::nccl
