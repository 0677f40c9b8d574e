#include "training/update_observer.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/ignored_target.h"
#include "models/random.h"
#include "tokenizer/special_ids.h"

namespace ablate::training {
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

/// Squared norms of the weights and of their change.
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

/// Each n-th row from `first` on; of `ignored` targets none counts.
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
/// estimates what a gradient over the given number of tokens has.
GradientSize gradient_of_parts(models::Transformer& model, const data::Batch& batch,
                               const UpdateOptions& update) {
  constexpr int64_t kMostParts = 8;
  const int64_t count = std::min(kMostParts, batch.rows);
  double weighted = 0, parts = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto part =
        part_of(batch, i, count, models::ignored_target(model->labels(), tokenizer::kPad));
    if (part.tokens == 0) continue;  // where few tokens are masked
    const double norm = gradient_norm(
        model, part,
        {.learning_rate = update.learning_rate,
         .label_smoothing = update.label_smoothing,
         .clip = update.clip,
         .dropout = update.dropout,
         .dropout_seed = models::derive_seed(update.dropout_seed, "part", static_cast<uint64_t>(i)),
         .precision = update.precision});
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
