#include "training/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/batch.h"
#include "models/feed_forward/feed_forward.h"
#include "tokenizer/special_tokens.h"
#include "training/update.h"
#include "training/update_observer.h"

namespace ablate::training {
namespace {

constexpr int64_t kMostTokens = 4096;  // attention's weights grow with their square
constexpr uint64_t kMaskedSeed = 2;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Follows a pass through the layers and records the observations.
class PassObserver {
 public:
  PassObserver(const models::TransformerImpl& model, const BatchTensors& batch,
               const ObserveOptions& options)
      : model_(model.options()),
        options_(options),
        source_(batch.source.ne(tokenizer::kPad)),
        target_(batch.target_in.ne(tokenizer::kPad)) {
    if (const auto& divider = model.vocabulary().divider) {
      const auto document = batch.target_in.eq(*divider).cumsum(1);
      in_first_document_ = document.eq(document.narrow(1, 0, 1));
    }
    enter(model.family() == models::Family::decoder_only ? models::Side::decoder
                                                         : models::Side::encoder);
  }

  models::Observer observer() {
    models::Observer observer;
    if (wants(Observable::attention_entropy) || wants(Observable::attention_sink))
      observer.attention = [this](const torch::Tensor& weights) { see_attention(weights); };
    if (wants(Observable::active_neurons)) {
      const auto see = [this](const std::string& place, const torch::Tensor& hidden) {
        if (hidden.numel() > 0)
          add(Observable::active_neurons, place, {training::active_neurons(hidden)});
      };
      observer.hidden_layer = [=, this](const torch::Tensor& hidden) {
        see(layer() + (is_mixture() ? ".feed_forward.shared" : ".feed_forward"), hidden);
      };
      observer.expert_hidden_layers = [=, this](const torch::Tensor& hidden) {
        see(layer() + ".feed_forward", hidden);
      };
    }
    observer.layer_output = [this](const torch::Tensor& x) { leave_layer(x); };
    return observer;
  }
  std::vector<Observation> observations() && { return std::move(observations_); }

 private:
  bool wants(Observable what) const { return options_.wants(what); }

  void enter(models::Side side) {
    side_ = side;
    stack_ = models::stack_of(model_, side);
    depth_ = 0;
  }
  const torch::Tensor& mask() const { return side_ == models::Side::encoder ? source_ : target_; }
  const models::LayerOptions& layer_options() const {
    return stack_.layer(stack_.layer_at(depth_));
  }
  const models::AttentionOptions& mixer() const { return layer_options().attention; }
  std::string layer() const { return fmt::format("{}.layers.{}", text_of(side_), depth_); }
  bool is_mixture() const {
    return models::routes(models::feed_forward_of(layer_options().feed_forward));
  }

  void add(Observable what, const std::string& place, std::vector<double> values) {
    const bool several =
        what == Observable::attention_entropy || what == Observable::attention_sink;
    observations_.push_back({.what = std::string(word(what)),
                             .place = place,
                             .value = mean_of(values),
                             .heads = several ? std::move(values) : std::vector<double>()});
  }

  /// A layer's own attention comes before that over the source.
  void see_attention(const torch::Tensor& weights) {
    const bool own = !attended_ && traits_of(mixer()).has_scores;
    attended_ = true;
    const auto place = layer() + (own ? ".attention" : ".cross_attention");
    if (wants(Observable::attention_entropy))
      add(Observable::attention_entropy, place, training::attention_entropy(weights, mask()));
    if (wants(Observable::attention_sink))
      add(Observable::attention_sink, place,
          training::attention_sink(weights, own ? beside_first_key() : over_several_keys()));
  }

  /// Queries of this stack that see its first position and another one. // [B, T]
  torch::Tensor beside_first_key() const {
    const auto number = torch::ones_like(mask(), torch::kLong).cumsum(1);  // [B, T], from 1
    auto seeing =
        mask().logical_and(stack_.causal ? number.gt(1) : mask().sum(1, /*keepdim=*/true).gt(1));
    const auto* heads = std::get_if<models::MultiHead>(&mixer());
    if (heads != nullptr && heads->window)
      seeing = seeing.logical_and(number.le(*heads->window > 1 ? *heads->window : 0));
    if (stack_.causal && in_first_document_.defined())
      seeing = seeing.logical_and(in_first_document_);
    return seeing;
  }
  /// Queries of this stack whose source has several positions. // [B, T]
  torch::Tensor over_several_keys() const {
    return mask().logical_and(source_.sum(1, /*keepdim=*/true).gt(1));
  }

  void leave_layer(const torch::Tensor& x) {
    if (wants(Observable::rank_residual))
      add(Observable::rank_residual, layer(), {training::rank_residual(x, mask())});
    attended_ = false;
    if (++depth_ == stack_.depth && side_ == models::Side::encoder) enter(models::Side::decoder);
  }

  const models::TransformerOptions& model_;
  const ObserveOptions& options_;
  torch::Tensor source_, target_;    // true at tokens // [B, S], [B, T]
  torch::Tensor in_first_document_;  // undefined without a divider // [B, T]
  models::Side side_{};
  models::StackOptions stack_{};
  int64_t depth_ = 0;
  bool attended_ = false;  // whether this layer has shown an attention
  std::vector<Observation> observations_;
};

}  // namespace

nlohmann::json to_json(const Observation& observation, int64_t step) {
  nlohmann::json line{{"step", step},
                      {"observed", observation.what},
                      {"place", observation.place},
                      {"value", observation.value}};
  if (!observation.heads.empty()) line["heads"] = observation.heads;
  return line;
}

data::Batch observed_batch(const ObservedExamples& observed) {
  const int64_t room = std::min(observed.tokens_per_batch, kMostTokens);
  std::vector<int64_t> rows;
  int64_t longest = 0;
  for (const auto length : data::lengths_of(observed.examples)) {
    longest = std::max(longest, length);
    if (!rows.empty() && longest * (std::ssize(rows) + 1) > room) break;
    rows.push_back(std::ssize(rows));
  }
  auto batch = data::collate(observed.examples, rows);
  if (observed.masking) data::mask_by_place(batch, rows, *observed.masking, kMaskedSeed);
  return batch;
}

std::vector<Observation> observe_pass(models::Transformer& model, const data::Batch& batch,
                                      const ObserveOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto tensors = to_tensors(batch, model->output_weight().device());
  PassObserver pass(*model, tensors, options);
  const auto observer = pass.observer();
  model->hidden(tensors.source, tensors.target_in, {.observer = &observer});
  return std::move(pass).observations();
}

namespace {

/// Below this a router's gradient is rounding noise.
constexpr double kNoGradient = 1e-7;

double number(const torch::Tensor& x) { return x.defined() ? x.item<double>() : 0.0; }

/// Norm of the gradients of a mixture's router; 0 if it has no parameters.
double router_gradient(const torch::nn::Module& mixture) {
  double square = 0;
  for (const auto& item : mixture.named_parameters())
    if (item.key().starts_with("router.") && item.value().grad().defined())
      square += std::pow(item.value().grad().norm().item<double>(), 2);
  return std::sqrt(square);
}

}  // namespace

double MixtureRecord::variation() const {
  const auto count = static_cast<double>(shares.size());
  double square = 0;
  for (const double share : shares) square += std::pow(share * count - 1, 2);
  return std::sqrt(square / count);
}

double MixtureRecord::highest() const {
  return *std::ranges::max_element(shares) * static_cast<double>(shares.size());
}

std::string MixtureRecord::fault() const {
  if (static_cast<int64_t>(shares.size()) <= active) return "";
  const auto used = std::ranges::count_if(
      shares, [&](double share) { return share * static_cast<double>(shares.size()) > 0.01; });
  if (used <= active)
    return fmt::format("{}: collapsed, {} of {} experts get every position; raise balance.load",
                       name, used, shares.size());
  // A router without scores (hash) has no load and no gradient by design.
  if (load > 0 && router_gradient < kNoGradient)
    return fmt::format("{}: the router gets no gradient; it will never learn", name);
  return "";
}

std::string news_of(const MixtureRecord& mixture, std::set<std::string>& faulty) {
  auto fault = mixture.fault();
  if (!fault.empty()) return faulty.insert(mixture.name).second ? fault : "";
  if (faulty.erase(mixture.name) == 0) return "";
  return fmt::format("{}: healed, the largest load is {:.1f} times the mean", mixture.name,
                     mixture.highest());
}

std::vector<MixtureRecord> mixture_records(const models::TransformerImpl& model,
                                           const std::vector<models::RoutingStatistics>& mixtures) {
  std::vector<MixtureRecord> records;
  for (const auto& item : model.named_modules()) {
    const auto mixture = std::dynamic_pointer_cast<models::Mixture>(item.value());
    if (mixture == nullptr) continue;
    const auto& routing = mixtures.at(records.size());
    MixtureRecord record{.name = item.key(),
                         .active = mixture->active(),
                         .shares = {},
                         .load = number(routing.load),
                         .z = number(routing.z),
                         .entropy = number(routing.entropy),
                         .dropped = number(routing.dropped),
                         .router_gradient = router_gradient(*mixture)};
    const auto counts = routing.counts.to(torch::kDouble).cpu();
    const auto shares = (counts / counts.sum().clamp_min(1)).contiguous();
    record.shares.assign(shares.const_data_ptr<double>(),
                         shares.const_data_ptr<double>() + shares.numel());
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace ablate::training
