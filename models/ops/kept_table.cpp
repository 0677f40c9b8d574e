#include "models/ops/kept_table.h"

#include <bit>

#include "models/ops/backend.h"

namespace ablate::models::ops {

torch::Tensor KeptTable::rows(const torch::Tensor& numbers, int64_t length,
                              const Compute& compute) {
  if (!computes_elsewhere(numbers)) return compute(numbers);
  const std::lock_guard lock(mutex_);
  if (!table_.defined() || table_.size(0) < length || table_.device() != numbers.device()) {
    const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(length)));
    table_ = compute(torch::arange(size, numbers.options())).to(torch::kFloat);
  }
  return table_.index_select(0, numbers);
}

}  // namespace ablate::models::ops
