#include "training/update_observer.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/special_entr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "models/random.h"
#include "models/transformer.h"
#include "tokenizer/special_tokens.h"

namespace ablate::training {
namespace {

/// The mean of each head over the queries that count. // [B, H, T], [B, 1 or H, T] -> H
std::vector<double> head_means(const torch::Tensor& x, const torch::Tensor& counted) {
  const auto mask = counted.expand_as(x);
  const auto sums =
      x.to(torch::kDouble).masked_fill(mask.logical_not(), 0.0).sum(at::IntArrayRef{0, 2});
  const auto means = (sums / mask.sum(at::IntArrayRef{0, 2})).cpu().contiguous();  // [H]
  return {means.const_data_ptr<double>(), means.const_data_ptr<double>() + means.numel()};
}

}  // namespace

std::vector<double> attention_entropy(const torch::Tensor& weights, const torch::Tensor& counted) {
  const auto wide = weights.to(torch::promoteTypes(weights.scalar_type(), torch::kFloat));
  const auto sums = wide.sum(-1, /*keepdim=*/true, torch::kDouble);  // [B, H, T, 1]
  const auto attends = sums.gt(0);
  const auto shares = wide / sums.masked_fill(attends.logical_not(), 1.0).to(wide.scalar_type());
  const auto entropy = at::special_entr(shares).sum(-1, /*keepdim=*/false, torch::kDouble);
  return head_means(entropy, attends.squeeze(-1).logical_and(counted.unsqueeze(1)));
}

std::vector<double> attention_sink(const torch::Tensor& weights, const torch::Tensor& counted) {
  return head_means(weights.select(-1, 0), counted.unsqueeze(1));
}

double rank_residual(const torch::Tensor& x, const torch::Tensor& padding_mask) {
  const auto padding = padding_mask.logical_not().unsqueeze(-1);  // [B, T, 1]
  const auto count = padding_mask.sum(1);                         // [B]
  const auto rows = x.to(torch::kDouble).masked_fill(padding, 0.0);
  const auto mean = rows.sum(1, /*keepdim=*/true) / count.view({-1, 1, 1});  // [B, 1, D]
  const auto apart = (rows - mean).masked_fill(padding, 0.0);
  const auto norm = [](const torch::Tensor& matrices) {
    return at::linalg_vector_norm(matrices, 2, at::IntArrayRef{1, 2});
  };
  return (norm(apart) / norm(rows)).masked_select(count.gt(1)).mean().item<double>();
}

double active_neurons(const torch::Tensor& hidden) {
  return static_cast<double>(hidden.count_nonzero().item<int64_t>()) /
         static_cast<double>(hidden.numel());
}

double GradientNoise::scale() const {
  return square > 0 ? variance / square : std::numeric_limits<double>::infinity();
}

GradientNoise gradient_noise(const GradientSize& small, const GradientSize& big) {
  return {.square =
              (big.tokens * big.square - small.tokens * small.square) / (big.tokens - small.tokens),
          .variance = (small.square - big.square) / (1 / small.tokens - 1 / big.tokens)};
}

namespace {

/// The layer that a parameter belongs to, or else the module that owns it, or itself.
std::string group_of(const std::string& parameter) {
  constexpr std::string_view kLayers = ".layers.";
  const auto layers = parameter.find(kLayers);
  if (layers != std::string::npos)
    return parameter.substr(0, parameter.find('.', layers + kLayers.size()));
  const auto dot = parameter.rfind('.');
  return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}

double squared_norm(const torch::Tensor& x) {
  return x.to(torch::kDouble).square().sum().item<double>();
}

/// Squared norms of weights and of their change.
struct Moved {
  std::string place;
  double weights = 0, change = 0;

  Observation observation() const {
    return {.what = std::string(word(Observable::update_ratio)),
            .place = place,
            .value = std::sqrt(change / weights),
            .heads = {}};
  }
};

/// Every n-th row from `first` on; targets equal to `ignored` do not count.
data::Batch part_of(const data::Batch& batch, int64_t first, int64_t n, int64_t ignored) {
  data::Batch part{.source_length = batch.source_length, .target_length = batch.target_length};
  const auto take = [](const std::vector<int64_t>& from, int64_t row, int64_t length,
                       std::vector<int64_t>& to) {
    to.insert(to.end(), from.begin() + row * length, from.begin() + (row + 1) * length);
  };
  for (int64_t row = first; row < batch.rows; row += n) {
    ++part.rows;
    take(batch.source, row, batch.source_length, part.source);
    take(batch.target_in, row, batch.target_length, part.target_in);
    take(batch.target_out, row, batch.target_length, part.target_out);
  }
  part.tokens = std::ssize(part.target_out) - std::ranges::count(part.target_out, ignored);
  return part;
}

/// The mean of the squared gradient norms of up to 8 parts of a batch, weighted by their tokens: it
/// estimates the squared norm of a gradient over the given number of tokens.
GradientSize gradient_of_parts(models::Transformer& model, const data::Batch& batch,
                               const UpdateOptions& update) {
  constexpr int64_t kMostParts = 8;
  const int64_t count = std::min(kMostParts, batch.rows);
  double weighted = 0, parts = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto part =
        part_of(batch, i, count, models::ignored_target(model->labels(), tokenizer::kPad));
    if (part.tokens == 0) continue;  // if few tokens are masked
    const double norm = gradient_norm(
        model, part,
        {.learning_rate = update.learning_rate,
         .loss = update.loss,
         .dropout = update.dropout,
         .dropout_seed = models::derive_seed(update.dropout_seed, "part", static_cast<uint64_t>(i)),
         .precision = update.precision,
         .ahead = update.ahead});
    weighted += static_cast<double>(part.tokens) * norm * norm;
    ++parts;
  }
  const auto tokens = static_cast<double>(batch.tokens);
  return {.square = weighted / tokens, .tokens = tokens / parts};
}

}  // namespace

UpdateObserver::UpdateObserver(models::Transformer model, const data::Batch& batch,
                               const UpdateOptions& update, const ObserveOptions& options)
    : model_(std::move(model)) {
  if (options.wants(Observable::update_ratio))
    for (const auto& item : model_->named_parameters())
      if (item.value().requires_grad())
        weights_.emplace_back(item.key(), item.value().detach().clone());
  if (options.wants(Observable::gradient_noise)) parts_ = gradient_of_parts(model_, batch, update);
}

std::vector<Observation> UpdateObserver::after(const StepRecord& record) const {
  const torch::NoGradGuard no_grad;
  std::vector<Moved> moved;
  Moved whole{.place = "model"};
  const auto now = model_->named_parameters();
  for (const auto& [name, before] : weights_) {
    const auto place = group_of(name);
    auto group = std::ranges::find(moved, place, &Moved::place);
    if (group == moved.end()) group = moved.insert(group, Moved{.place = place});
    const double weights = squared_norm(before), change = squared_norm(now[name] - before);
    for (auto* sum : {&*group, &whole}) {
      sum->weights += weights;
      sum->change += change;
    }
  }
  if (!moved.empty()) moved.push_back(whole);
  std::vector<Observation> observations;
  for (const auto& one : moved) observations.push_back(one.observation());
  const auto tokens = static_cast<double>(record.tokens);
  if (parts_.tokens == 0 || parts_.tokens == tokens) return observations;
  const auto noise =
      gradient_noise(parts_, {.square = std::pow(record.gradient_norm, 2), .tokens = tokens});
  const auto add = [&](const char* what, double value) {
    observations.push_back({.what = what, .place = whole.place, .value = value, .heads = {}});
  };
  add("gradient_square", noise.square);
  add("gradient_variance", noise.variance);
  add("gradient_noise", noise.scale());
  return observations;
}

}  // namespace ablate::training
