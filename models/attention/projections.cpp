#include "models/attention/projections.h"

#include <array>

namespace ablate::models {

torch::Tensor* Projections::by_head(size_t which) {
  const size_t first = parts_ == Parts::keys_and_values ? 1 : 0;
  const size_t last = parts_ == Parts::queries ? 0 : 2;
  if (which < first || which > last) return nullptr;
  if (by_head_.empty()) {
    const std::array widths{heads_.query_width(), heads_.key_width(), heads_.value_width()};
    const auto own = c10::IntArrayRef(widths).slice(first, last - first + 1);
    by_head_ = own.size() == 1 ? std::vector{packed_} : packed_.split_with_sizes(own, -1);
    for (size_t i = 0; i < by_head_.size(); ++i)
      by_head_[i] =
          by_head_[i].unflatten(-1, {first + i == 0 ? heads_.count : heads_.key_values, -1});
  }
  return &by_head_[which - first];
}

torch::Tensor Projections::packed() const {
  if (by_head_.empty()) return packed_;
  std::vector<torch::Tensor> flat;
  for (const auto& part : by_head_) flat.push_back(part.flatten(-2));
  return flat.size() == 1 ? flat.front() : torch::cat(flat, -1);
}

ops::Heads Projections::heads() const {
  auto heads = heads_;
  if (!by_head_.empty()) heads.d_k = by_head_.front().size(-1);  // of queries or keys
  return heads;
}

}  // namespace ablate::models
