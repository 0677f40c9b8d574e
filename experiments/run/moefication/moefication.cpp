#include "experiments/run/moefication/moefication.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "data/batch.h"
#include "experiments/errors.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/moefication/neuron_groups.h"
#include "models/feed_forward/feed_forward.h"
#include "training/likelihood.h"
#include "training/storage/errors.h"
#include "training/update.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

constexpr int kMostPoints = 16;
constexpr int64_t kTimedPositions = 2048;
constexpr int kRepeats = 7;

/// A dense feed-forward on its way to a mixture. // F neurons
struct Layer {
  std::string name;
  torch::Tensor up, up_bias, down, down_bias;  // [F, D], [F], [D, F], [D]; biases may be undefined
  torch::Tensor inputs;                        // recorded // [N, D]
  torch::Tensor order;                         // the neurons of group 0, of group 1, ... // [F]
  RouterNetwork router;

  /// The first layer by groups. // [E, F / E, D]
  torch::Tensor grouped_up(int64_t experts) const {
    return up.index_select(0, order).unflatten(0, {experts, -1});
  }
  torch::Tensor grouped_bias(int64_t experts) const {  // [E, F / E]
    return up_bias.defined() ? up_bias.index_select(0, order).unflatten(0, {experts, -1}) : up_bias;
  }
};

void check(const models::LayerOptions& layer, const std::string& side, int64_t experts) {
  const auto* dense = std::get_if<models::DenseFeedForward>(&layer.feed_forward);
  if (dense == nullptr || dense->gated || dense->activation != models::Activation::relu)
    throw UsageError(side +
                     ": only a dense feed-forward with relu can be split: other activations leave "
                     "no neuron at zero");
  if (dense->shared) throw UsageError(side + ": a feed-forward that layers share cannot be split");
  if (layer.canon.has(models::CanonPlace::hidden))
    throw UsageError(side +
                     ": a feed-forward with a short convolution inside (model.canon.places: "
                     "d) cannot be split");
  if (experts < 1 || dense->d_hidden % experts != 0)
    throw UsageError(fmt::format("the experts, {}, must divide the {} hidden neurons of the {}",
                                 experts, dense->d_hidden, side));
}

std::vector<Layer> layers_of(const models::TransformerImpl& model) {
  const auto weights = training::weights_of(model);
  const auto found = [&](const std::string& name) {
    const auto weight = weights.find(name);
    return weight == weights.end() ? torch::Tensor() : weight->second.detach();
  };
  std::vector<Layer> layers;
  for (const auto& item : model.named_modules()) {
    if (std::dynamic_pointer_cast<models::Dense>(item.value()) == nullptr) continue;
    const auto& name = item.key();
    layers.push_back({.name = name,
                      .up = found(name + ".up.weight"),
                      .up_bias = found(name + ".up.bias"),
                      .down = found(name + ".down.weight"),
                      .down_bias = found(name + ".down.bias"),
                      .inputs = {},
                      .order = {},
                      .router = {}});
  }
  return layers;
}

/// Records the input of every feed-forward at about `positions` positions of the training set.
void record(std::vector<Layer>& layers, LoadedRun& run, const data::Corpus& corpus,
            int64_t positions) {
  const auto& format = run.format;
  const bool running = format.augmentation(run.tokenizers).chunking.has_value();
  const auto set = running ? format.encode(corpus.train, run.tokenizers)
                           : format.encode_for_training(corpus.train, run.tokenizers);
  const auto& training = run.experiment.training;
  auto& model = run.model;
  const auto device = model->output_weight().device();
  const auto plan =
      data::batch_plan(data::lengths_of(set.examples),
                       {.tokens_per_batch = training.tokens_per_batch, .seed = 1, .epoch = 0});
  std::vector<std::vector<torch::Tensor>> parts(layers.size());
  int64_t seen = 0;
  for (const auto& indices : plan) {
    const auto tensors = training::to_tensors(data::collate(set.examples, indices), device);
    size_t next = 0;
    const models::Observer observer{
        .attention = {},
        .feed_forward_input = [&](const torch::Tensor& x) { parts.at(next++).push_back(x); }};
    model->hidden(tensors.source, tensors.target_in, {.observer = &observer});
    seen += parts.back().back().size(0);
    if (seen >= positions) break;
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].inputs = torch::cat(parts[i]).slice(0, 0, positions);
    if (!layers[i].inputs.isfinite().all().item<bool>())
      throw training::Diverged("the input of " + layers[i].name + " is not finite");
  }
}

/// The neurons of all groups, on the CPU. // [F]
torch::Tensor groups_of(const Layer& layer, const MoefyOptions& options) {
  switch (options.grouping) {
    case training::Grouping::random:
      return random_groups(layer.up.size(0), options.seed);
    case training::Grouping::clusters:
      return clustered_groups(layer.up.cpu(), options.experts, options.seed);
    case training::Grouping::coactivation:
      return coactive_groups(torch::linear(layer.inputs, layer.up, layer.up_bias).relu().cpu(),
                             options.experts);
  }
  TORCH_CHECK(false, "invalid Grouping");
}

models::MixtureOptions mixture_of(const models::FeedForwardOptions& dense,
                                  const MoefyOptions& options, int64_t active) {
  return {.experts = options.experts,
          .active = active,
          .d_hidden = std::get<models::DenseFeedForward>(dense).d_hidden / options.experts,
          .router = options.router,
          .balance = {.load = 0, .z = 0}};
}

/// The experiment with mixtures.
config::Experiment converted(const config::Experiment& dense, const MoefyOptions& options,
                             int64_t active) {
  auto experiment = dense;
  auto& model = experiment.model;
  const auto split = [&](models::FeedForwardOptions& feed_forward) {
    if (std::holds_alternative<models::DenseFeedForward>(feed_forward))
      feed_forward = mixture_of(feed_forward, options, active);
  };
  split(model.layer.feed_forward);
  for (auto* list : {&model.encoder, &model.decoder})
    for (auto& layer : *list) split(layer.feed_forward);
  return experiment;
}

/// The weights of a mixture, by their name below it.
std::map<std::string, torch::Tensor> mixture_weights(const Layer& layer, int64_t experts,
                                                     int64_t active) {
  std::map<std::string, torch::Tensor> weights{
      {"up", layer.grouped_up(experts)},
      {"down", layer.down.index_select(1, layer.order).t().unflatten(0, {experts, -1})},
      {"router.centres", layer.router.centres},
      {"router.first", layer.router.first},
      {"router.second", layer.router.second}};
  if (layer.up_bias.defined()) {
    weights["up_bias"] = layer.grouped_bias(experts);
    // Each position adds `active` of these, together the whole bias once.
    weights["down_bias"] =
        (layer.down_bias / static_cast<double>(active)).unsqueeze(0).expand({experts, -1});
  }
  return weights;
}

void fill(models::TransformerImpl& model, const LoadedRun& run, const std::vector<Layer>& layers,
          int64_t experts, int64_t active) {
  auto weights = training::weights_of(*run.model);
  for (const auto& layer : layers) {
    for (const auto* part : {".up.weight", ".up.bias", ".down.weight", ".down.bias"})
      weights.erase(layer.name + part);
    for (const auto& [name, weight] : mixture_weights(layer, experts, active))
      weights[layer.name + "." + name] = weight;
  }
  const auto need = [](bool fits, const std::string& name) {
    if (!fits)
      throw UsageError("training.init_from.split: " + name +
                       " does not fit: except for its mixtures the model must equal that of the "
                       "dense run, experts times d_hidden must be its d_hidden, and experts have "
                       "biases only with model.bias");
  };
  for (auto& [name, tensor] : training::weights_of(model)) {
    const auto found = weights.find(name);
    if (found == weights.end() && (name.ends_with(".up_bias") || name.ends_with(".down_bias"))) {
      torch::Tensor(tensor).zero_();  // the dense feed-forward has no biases
      continue;
    }
    need(found != weights.end() && found->second.sizes() == tensor.sizes(), name);
    torch::Tensor(tensor).copy_(found->second);
    weights.erase(found);
  }
  for (const auto& [name, weight] : weights)  // of which each kind of router reads its own
    need(name.find(".router.") != std::string::npos, name);
}

/// The dense model with mixtures in its feed-forwards' places.
models::Transformer assembled(const LoadedRun& run, const std::vector<Layer>& layers,
                              const MoefyOptions& options, int64_t active) {
  auto model = make_model(converted(run.experiment, options, active), run.tokenizers);
  fill(*model, run, layers, options.experts, active);
  model->to(run.model->output_weight().device());
  return model;
}

/// Seconds of all feed-forwards over the same positions, the fastest of some repeats each.
double feed_forward_seconds(const models::TransformerImpl& model,
                            const std::vector<Layer>& layers) {
  double sum = 0;
  size_t next = 0;
  for (const auto& module : model.modules()) {
    const auto feed_forward = std::dynamic_pointer_cast<models::FeedForward>(module);
    if (feed_forward == nullptr || next == layers.size()) continue;
    const auto x = layers[next++].inputs.slice(0, 0, kTimedPositions).unsqueeze(0);
    double fastest = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      const auto output = feed_forward->forward(x, {}).output;
      output[0][0][0].item<float>();  // a device has computed it once a number of it is read
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      fastest = std::min(fastest, seconds.count());
    }
    sum += fastest;
  }
  return sum;
}

double captured(const std::vector<Layer>& layers, const MoefyOptions& options, int64_t active) {
  double sum = 0;
  for (const auto& layer : layers) {
    const auto mass = models::expert_activation(layer.inputs, layer.grouped_up(options.experts),
                                                layer.grouped_bias(options.experts));
    const auto scores = layer.router.scores(options.router, layer.inputs, mass);
    sum += captured_mass(scores, mass, active);
  }
  return sum / static_cast<double>(layers.size());
}

void check_request(const models::TransformerOptions& model, const MoefyOptions& options) {
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    if (!models::has_side(model.family, side)) continue;
    const auto stack = stack_of(model, side);
    if (stack.different_layers() != stack.depth || stack.ahead > 0)
      throw UsageError(text_of(side) +
                       ": layers that a pass runs several times (model.share.layers) and further "
                       "heads (model.output.ahead) cannot be split");
    for (const auto& layer : stack.layers) check(layer, text_of(side), options.experts);
  }
  if (options.active < 1 || options.active > options.experts)
    throw UsageError("--active must be from 1 to the number of experts");
}

std::vector<Layer> split_layers(LoadedRun& run, const data::Corpus& corpus,
                                const MoefyOptions& options) {
  auto layers = layers_of(*run.model);
  record(layers, run, corpus, options.positions);
  for (auto& layer : layers) {
    layer.order = groups_of(layer, options).to(layer.up.device());
    layer.router = fit_router({.x = layer.inputs,
                               .up = layer.grouped_up(options.experts),
                               .up_bias = layer.grouped_bias(options.experts),
                               .active = options.active,
                               .seed = options.seed});
  }
  return layers;
}

}  // namespace

Moefied moefy(LoadedRun& run, const data::Corpus& corpus, const MoefyOptions& options) {
  const torch::NoGradGuard no_grad;
  check_request(run.experiment.model, options);
  const auto layers = split_layers(run, corpus, options);
  const auto validation = run.format.encode(corpus.validation, run.tokenizers);
  const auto likelihood = [&](models::Transformer& model) {
    return training::likelihood(
        model, validation.examples,
        {run.experiment.training.tokens_per_batch, run.format.masking(run.tokenizers)});
  };
  const double seconds = feed_forward_seconds(*run.model, layers);
  const auto measured = [&](int64_t active) {
    auto model = assembled(run, layers, options, active);
    const auto scores = likelihood(model);
    return MoefyPoint{.active = active,
                      .captured = captured(layers, options, active),
                      .perplexity = scores.perplexity(),
                      .token_accuracy = scores.token_accuracy,
                      .time = feed_forward_seconds(*model, layers) / seconds};
  };
  const auto dense = likelihood(run.model);
  Moefied result{.experiment = converted(run.experiment, options, options.active),
                 .dense_perplexity = dense.perplexity(),
                 .dense_token_accuracy = dense.token_accuracy,
                 .points = {},
                 .unknown_targets = unknown_share(validation, run.model->labels())};
  result.model = assembled(run, layers, options, options.active);
  const int64_t stride = (options.experts + kMostPoints - 1) / kMostPoints;
  for (int64_t active = stride; active <= options.experts; active += stride)
    result.points.push_back(measured(active));
  return result;
}

void start_split(models::TransformerImpl& model, const config::Experiment& experiment,
                 LoadedRun& dense, const data::Corpus& corpus, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const auto& start = experiment.training.init_from;
  const auto& mixture = std::get<models::MixtureOptions>(experiment.model.layer.feed_forward);
  const MoefyOptions options{.experts = mixture.experts,
                             .active = mixture.active,
                             .grouping = start.split.value(),
                             .router = mixture.router,
                             .positions = start.positions,
                             .seed = seed};
  check_request(dense.experiment.model, options);
  fill(model, dense, split_layers(dense, corpus, options), options.experts, options.active);
}

}  // namespace ablate::run
