#include "models/stack/ngram_memory.h"

#include <cmath>
#include <string>

#include "models/rms.h"

namespace ablate::models {
namespace {

constexpr int64_t kNoToken = -1;

/// Numbers below 2^32, whose lowest bits depend on all bits of x: without that, as many rows as a
/// power of two would keep the lowest bits of a sum, which n-grams of small ids share. The factors
/// are below 2^31, so that no product overflows.
torch::Tensor mixed(const torch::Tensor& x) {
  constexpr int64_t kBits = 0xffff'ffff;
  auto bits = x.bitwise_and(kBits);
  bits = bits.bitwise_xor(bits.bitwise_right_shift(15)).mul(0x2c1b'3c6d).bitwise_and(kBits);
  bits = bits.bitwise_xor(bits.bitwise_right_shift(12)).mul(0x297a'2d39).bitwise_and(kBits);
  return bits.bitwise_xor(bits.bitwise_right_shift(15));
}

}  // namespace

NgramMemoryImpl::NgramMemoryImpl(const HashedNgrams& options, const StackOptions& stack)
    : buckets_(options.buckets),
      divisor_(static_cast<double>(stack.d_model) / std::sqrt(stack.base_width())),
      key_(register_module("key", Linear(stack.d_model, stack.d_model, false))),
      value_(register_module("value",
                             Linear(stack.d_model, stack.d_model, false, Projection::output))) {
  for (int64_t n = 2; n <= options.longest; ++n)
    tables_.push_back(register_parameter("hashed_" + std::to_string(n), {buckets_, stack.d_model},
                                         Normal{1 / std::sqrt(stack.base_width())},
                                         Role::embedding));
}

torch::Tensor NgramMemoryImpl::read(const torch::Tensor& x,
                                    const std::vector<torch::Tensor>& past) const {
  auto hash = mixed(past[0]);  // [B, T]
  torch::Tensor sum;           // [B, T, D]
  for (size_t i = 0; i < tables_.size(); ++i) {
    hash = mixed(hash + past[i + 1]);
    const auto row = torch::embedding(tables_[i], hash.remainder(buckets_));
    sum = sum.defined() ? sum + row : row;
  }
  const auto memory = sum.to(x.scalar_type());
  const auto agreement =
      (rms(x) * rms(key_->forward(memory))).sum(-1, /*keepdim=*/true);  // [B, T, 1]
  return (agreement / divisor_).sigmoid() * value_->forward(memory);
}

KVCache NgramMemoryImpl::empty_cache(const torch::Tensor& like) const {
  const auto none = torch::full_like(like.select(-1, 0).narrow(1, 0, 1), kNoToken,
                                     torch::TensorOptions(torch::kLong));  // [B, 1]
  const auto past = none.expand({-1, std::ssize(tables_)});
  return {.blocks = {{past, past}}};  // ids, and the documents that they are of
}

torch::Tensor NgramMemoryImpl::forward(const torch::Tensor& x, const torch::Tensor& ids,
                                       const torch::Tensor& documents, KVCache& cache) const {
  const int64_t kept = std::ssize(tables_);
  const auto& [cached, cached_documents] = cache.concatenate();
  const auto all = torch::cat({cached, ids}, 1);  // [B, kept + T]
  const auto all_documents =
      documents.defined() ? torch::cat({cached_documents, documents}, 1) : torch::Tensor();
  std::vector<torch::Tensor> past{ids};
  for (int64_t distance = 1; distance <= kept; ++distance) {
    const auto before = [&](const torch::Tensor& past_and_own) {
      return past_and_own.slice(1, kept - distance, -distance);
    };
    past.push_back(documents.defined()
                       ? before(all).masked_fill(before(all_documents).ne(documents), kNoToken)
                       : before(all));
  }
  cache.blocks = {{all.slice(1, -kept),
                   documents.defined() ? all_documents.slice(1, -kept) : cached_documents}};
  return read(x, past);
}

}  // namespace ablate::models
