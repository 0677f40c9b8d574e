#include "models/ops/products.h"

#include <ATen/record_function.h>

#include <map>
#include <string_view>
#include <utility>

namespace ablate::models::ops {
namespace {

thread_local ProductCount* counting = nullptr;

/// Where the operands of a product stand among an operator's inputs.
struct Operands {
  size_t first, second;
};

/// The operators that LibTorch's others consist of.
const std::map<std::string_view, Operands>& operators() {
  static const std::map<std::string_view, Operands> known = {
      {"aten::mm", {0, 1}},
      {"aten::bmm", {0, 1}},
      {"aten::mv", {0, 1}},
      {"aten::dot", {0, 1}},
      {"aten::addmm", {1, 2}},
      {"aten::addmv", {1, 2}},
      {"aten::baddbmm", {1, 2}},
      {"aten::addmm_", {1, 2}},
      {"aten::_addmm_activation", {1, 2}},
      {"aten::linalg_solve_triangular", {0, 1}}};
  return known;
}

std::unique_ptr<at::ObserverContext> count_operator(const at::RecordFunction& call) {
  const auto found = operators().find(call.name());
  if (found == operators().end()) return nullptr;
  const auto inputs = call.inputs();
  const auto first = inputs[found->second.first].toTensor();
  const auto second = inputs[found->second.second].toTensor();
  // A triangular matrix has half as many numbers.
  const double share = found->first == "aten::linalg_solve_triangular" ? 0.5 : 1;
  const int64_t columns = second.dim() < 2 ? 1 : second.size(-1);
  const auto rows = static_cast<double>(first.numel());
  count_product(share * rows * static_cast<double>(columns), {first, second});
  return nullptr;
}

}  // namespace

ProductCount::ProductCount() {
  TORCH_CHECK(counting == nullptr, "matrix products are being counted already");
  counting = this;
  callback_ = at::addThreadLocalCallback(at::RecordFunctionCallback(count_operator)
                                             .needsInputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
}

ProductCount::~ProductCount() {
  at::removeCallback(callback_);
  counting = nullptr;
}

void count_product(double size, std::initializer_list<torch::Tensor> operands) {
  if (counting == nullptr) return;
  const double used =
      size / static_cast<double>(counting->computed_) * static_cast<double>(counting->used_);
  counting->products_.forward += used;
  for (const auto& operand : operands)
    if (operand.requires_grad()) counting->products_.backward += used;
}

PartOfProducts::PartOfProducts(int64_t used, int64_t computed)
    : count_(counting), used_(used), computed_(computed) {
  if (count_ == nullptr) return;
  std::swap(count_->used_, used_);
  std::swap(count_->computed_, computed_);
}

PartOfProducts::~PartOfProducts() {
  if (count_ == nullptr) return;
  count_->used_ = used_;
  count_->computed_ = computed_;
}

}  // namespace ablate::models::ops
