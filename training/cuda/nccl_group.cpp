#include "training/cuda/nccl_group.h"

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

extern "C" __attribute__((visibility("default")))
ablate::training::MakeNcclGroup ablate_make_nccl_group;

c10d::Backend* ablate_make_nccl_group(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                      std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, 2, options).release();
}
