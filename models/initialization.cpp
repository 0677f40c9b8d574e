#include "models/initialization.h"

#include <cmath>
#include <numbers>
#include <string>

#include "models/generator.h"
#include "models/module.h"
#include "models/random.h"

namespace ablate::models {
namespace {

struct Filler {
  torch::Tensor tensor;
  at::Generator generator;

  void operator()(const Constant& constant) const { tensor.fill_(constant.value); }
  void operator()(const Normal& normal) const {
    tensor.normal_(0.0, normal.deviation, generator);
    if (normal.rows > 0) tensor.narrow(0, 0, normal.rows).mul_(normal.factor);
  }
  void operator()(const TruncatedNormal& normal) const {
    const double within = std::erf(normal.cutoff * std::numbers::sqrt2 / 2);  // P(|x| < cutoff)
    tensor.uniform_(-within, within, generator)
        .erfinv_()
        .mul_(std::numbers::sqrt2 * normal.deviation);
  }
  void operator()(const Uniform& range) const { tensor.uniform_(range.low, range.high, generator); }
  void operator()(const XavierUniform& xavier) const {
    const auto matrix = tensor.flatten(0, -2);
    int64_t begin = 0;
    for (size_t i = 0; i < xavier.rows.size(); ++i) {
      const int64_t rows = xavier.rows[i];
      const double gain = xavier.gain * (i < xavier.scores ? 1 : xavier.value_gain);
      const double bound = gain * std::sqrt(6.0 / static_cast<double>(rows + matrix.size(1)));
      matrix.narrow(0, begin, rows).uniform_(-bound, bound, generator);
      begin += rows;
    }
    TORCH_CHECK(begin == matrix.size(0), "the matrices have ", begin, " rows, the tensor ",
                matrix.size(0));
  }
  void operator()(const UniformSoftplus&) const {
    tensor.uniform_(0.01, 1.0, generator).expm1_().log_();
  }
  void operator()(const UniformExponential& range) const {
    tensor.uniform_(range.low, range.high, generator).log_();
  }
};

void initialize_own(const torch::nn::Module& module, const std::string& prefix, uint64_t seed) {
  const auto* own = dynamic_cast<const Module*>(&module);
  const size_t stated = own == nullptr ? 0 : own->own_parameters().size();
  TORCH_CHECK(module.named_parameters(/*recurse=*/false).size() == stated, "a parameter of '",
              prefix, "' has no stated distribution: derive the module from models::Module");
  if (own == nullptr) return;
  for (const auto& item : own->own_parameters())
    fill(item.tensor, item.initializer, derive_seed(seed, prefix + item.name));
  for (const auto& item : own->random_buffers())
    fill(item.tensor, item.initializer, derive_seed(seed, prefix + item.name));
}

}  // namespace

void fill(torch::Tensor tensor, const Initializer& initializer, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const auto values =
      tensor.is_cpu() ? tensor : torch::empty_like(tensor, tensor.options().device(torch::kCPU));
  std::visit(Filler{values, seeded_generator(seed)}, initializer);
  if (!tensor.is_cpu()) tensor.copy_(values);
}

void initialize(const torch::nn::Module& model, uint64_t seed) {
  initialize_own(model, "", seed);
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    initialize_own(*item.value(), item.key() + ".", seed);
}

}  // namespace ablate::models
