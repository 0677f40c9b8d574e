#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/libtorch.h"
#include "training/ranks/rank_place.h"

namespace c10d {
class Store;
}

namespace ablate::training {

/// Throws DeviceError if this build cannot connect ranks on `device`: CUDA devices need NCCL.
void require_connection(torch::Device device);

/// Throws DeviceError if a later rank has a device of the same `identity`, which NCCL would refuse
/// later and in other words. All ranks call it.
void refuse_shared_device(c10d::Store& store, const RankPlace& place, const std::string& identity);

/// The processes that share the work of a run: a power of two of them, this one included. All
/// calls are made by every rank, in the same order, and throw RankLost.
class RankGroup {
 public:
  /// A group of only this process.
  RankGroup();
  /// Waits for the others. Tensors live on `device`: NCCL connects CUDA devices, Gloo CPUs. Throws
  /// as require_connection().
  RankGroup(const RankPlace& place, torch::Device device);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /// A group of one, for work that is not shared.
  static const RankGroup& alone();

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  bool is_first() const { return rank_ == 0; }

  /// The sum of all ranks' tensors of the same shape, in the order of a binary tree over the ranks:
  /// all ranks get the same bits as one process that adds in this order.
  torch::Tensor sum(const torch::Tensor& part) const;

  /// Throws unless all ranks pass the same number; `what` names it.
  void agree_on(int64_t number, const char* what) const;

 private:
  struct Connection;
  int64_t rank_ = 0, size_ = 1;
  std::unique_ptr<Connection> connection_;
};

}  // namespace ablate::training
