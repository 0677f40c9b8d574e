#include "experiments/run/start_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <vector>

#include "experiments/records/exit_code.h"
#include "experiments/run/load_run.h"
#include "experiments/run/moefication/moefication.h"
#include "training/checkpoint/checkpoint.h"
#include "training/weights.h"
#include "training/without.h"

namespace ablate::run {
namespace {

/// The weight that `tensor`, named `name`, can start from: the one of its name and shape, or, of a
/// mixture, the dense feed-forward's of each expert's shape (sparse upcycling, Komatsuzaki et al.
/// 2022). Undefined where there is none.
torch::Tensor weight_for(const std::string& name, const torch::Tensor& tensor,
                         const training::Weights& weights) {
  const auto found = weights.find(name);
  if (found != weights.end() && found->second.sizes() == tensor.sizes()) return found->second;
  constexpr std::string_view kBias = "_bias";
  const bool bias = name.ends_with(kBias);
  const auto dense =
      weights.find(bias ? name.substr(0, name.size() - kBias.size()) + ".bias" : name + ".weight");
  if (dense == weights.end() || tensor.dim() < 2) return {};
  // Of a mixture a neuron's weights are a row in both layers, of a dense one a column in the
  // second.
  const auto weight = name.ends_with("down") ? dense->second.t() : dense->second;
  return weight.sizes() == tensor.sizes().slice(1) ? weight.unsqueeze(0).expand_as(tensor)
                                                   : torch::Tensor();
}

/// Copies what there is, and says how many there were and which of the model's are its own.
std::string copy_weights(models::TransformerImpl& model, const training::Weights& weights,
                         const std::filesystem::path& folder) {
  const torch::NoGradGuard no_grad;
  size_t taken = 0;
  std::string own;
  for (auto& [name, tensor] : training::weights_of(model)) {
    const auto found = weight_for(name, tensor, weights);
    if (found.defined()) {
      torch::Tensor(tensor).copy_(found);
      ++taken;
    } else {
      own += (own.empty() ? "" : ", ") + name;
    }
  }
  if (taken == 0)
    throw training::CheckpointError(folder.string() +
                                    " has no weight of this model's names and shapes");
  return fmt::format("starting from {} weights of {}{}", taken, folder.string(),
                     own.empty() ? "" : "; new: " + own);
}

training::Weights parameters_of(const models::TransformerImpl& model) {
  training::Weights parameters;
  for (const auto& item : model.named_parameters()) parameters[item.key()] = item.value();
  return parameters;
}

/// The first names, and how many more there are.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 3;
  const std::span all(names);
  const auto text = fmt::format("{}", fmt::join(all.first(std::min(kMostNames, all.size())), ", "));
  return all.size() <= kMostNames ? text
                                  : fmt::format("{} and {} more", text, all.size() - kMostNames);
}

/// Throws UsageError where a parameter would stay as it was drawn, or one of the source would be
/// left out without a word: nothing trains the one, and the other was part of what is evaluated.
void check_same_model(const training::Weights& own, const training::Weights& source,
                      const std::filesystem::path& folder) {
  std::vector<std::string> missing, unused;
  for (const auto& [name, tensor] : own)
    if (!weight_for(name, tensor, source).defined()) missing.push_back(name);
  for (const auto& [name, tensor] : source)
    if (!own.contains(name)) unused.push_back(name);
  if (!missing.empty())
    throw records::UsageError(fmt::format(
        "training.steps is 0, and nothing else would train what {} has no weights for: {}; give "
        "the arm the model of that run",
        folder.string(), listed(missing)));
  if (!unused.empty())
    throw records::UsageError(fmt::format(
        "training.steps is 0, and the arm's model has no place for weights of {}: {}; give it the "
        "model of that run, or name what is left out in training.init_from.without",
        folder.string(), listed(unused)));
}

/// Which weights were taken, and of what.
std::string description(const LoadedRun& source, const training::InitFromOptions& start) {
  std::vector<std::string> parts = start.without.layers;
  parts.insert(parts.end(), start.without.heads.begin(), start.without.heads.end());
  return fmt::format("{}{}{}{}{}", source.weights,
                     source.experiment.training.trains() ? " of " : ", by way of ",
                     start.arm.value_or(start.run.value_or("")),
                     parts.empty() ? "" : fmt::format(" without {}", fmt::join(parts, ", ")),
                     start.split ? ", its feed-forwards split" : "");
}

}  // namespace

std::string start_model(models::TransformerImpl& model, const config::Experiment& experiment,
                        const StartedFrom& from, std::ostream& messages) {
  const auto& start = experiment.training.init_from;
  auto source = load_start(from.folder, experiment);
  if (start.split) {
    start_split(model, experiment, source, from.corpus, from.seed);
    messages << "split the feed-forwards of " << from.folder.string() << "\n" << std::flush;
    return description(source, start);
  }
  const auto& options = source.experiment.model;
  const auto left = [&](const training::Weights& weights) {
    return training::without(weights, options, start.without);
  };
  if (!experiment.training.trains())
    check_same_model(parameters_of(model), left(parameters_of(*source.model)), from.folder);
  messages << copy_weights(model, left(training::weights_of(*source.model)), from.folder) << "\n"
           << std::flush;
  return description(source, start);
}

}  // namespace ablate::run
