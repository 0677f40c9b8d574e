#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace ablate::training {

constexpr const char* kMakeNcclGroup = "ablate_make_nccl_group";  // see cuda_function()

/// The type of kMakeNcclGroup: a new group of two by NCCL, of which this process is `rank`. The
/// caller owns the result. Throws as c10d::ProcessGroupNCCL.
using MakeNcclGroup = c10d::Backend*(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                     std::chrono::milliseconds timeout);

}  // namespace ablate::training
