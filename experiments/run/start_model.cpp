#include "experiments/run/start_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "experiments/errors.h"
#include "experiments/run/load_run.h"
#include "experiments/run/moefication/moefication.h"
#include "training/checkpoint/checkpoint.h"
#include "training/weights.h"
#include "training/without.h"

namespace ablate::run {
namespace {

const std::string kClassifier = "classifier";  // the weight that has a row for each class

/// A weight of the run that is started from.
struct Source {
  std::string name;
  torch::Tensor weight;
};

/// The weight that `tensor`, named `name`, can start from: the one of its name and shape, or, of a
/// mixture, the dense feed-forward's of each expert's shape (sparse upcycling, Komatsuzaki et al.
/// 2022). Nothing where there is none.
std::optional<Source> source_of(const std::string& name, const torch::Tensor& tensor,
                                const training::Weights& weights) {
  const auto found = weights.find(name);
  if (found != weights.end() && found->second.sizes() == tensor.sizes())
    return Source{name, found->second};
  constexpr std::string_view kBias = "_bias";
  const bool bias = name.ends_with(kBias);
  const auto dense =
      weights.find(bias ? name.substr(0, name.size() - kBias.size()) + ".bias" : name + ".weight");
  if (dense == weights.end() || tensor.dim() < 2) return {};
  // Of a mixture a neuron's weights are a row in both layers, of a dense one a column in the
  // second.
  const auto weight = name.ends_with("down") ? dense->second.t() : dense->second;
  if (weight.sizes() != tensor.sizes().slice(1)) return {};
  return Source{dense->first, weight.unsqueeze(0).expand_as(tensor)};
}

/// Copies what there is, and says how many there were and which of the model's are its own.
std::string copy_weights(models::TransformerImpl& model, const training::Weights& weights,
                         const std::filesystem::path& folder) {
  const torch::NoGradGuard no_grad;
  size_t taken = 0;
  std::string own;
  for (auto& [name, tensor] : training::weights_of(model)) {
    if (const auto source = source_of(name, tensor, weights)) {
      torch::Tensor(tensor).copy_(source->weight);
      ++taken;
    } else {
      own += (own.empty() ? "" : ", ") + name;
    }
  }
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

/// Whether one of `allowed` is the name or whole words of it: "layers.3" of
/// "decoder.layers.3.norm".
bool is_allowed(const std::string& name, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(allowed, [&](const std::string& words) {
    return ("." + name + ".").find("." + words + ".") != std::string::npos;
  });
}

/// "embedding [100, 16], of which that run's is [80, 16]"
std::string with_shapes(const std::string& name, const torch::Tensor& own,
                        const training::Weights& source) {
  const auto other = source.find(name);
  if (other == source.end()) return name;
  return fmt::format("{} [{}], of which that run's is [{}]", name, fmt::join(own.sizes(), ", "),
                     fmt::join(other->second.sizes(), ", "));
}

/// Weights of two models without a counterpart.
struct Unmatched {
  std::vector<std::string> missing;  // of the own model, with shapes
  std::vector<std::string> unused;   // of the source
};

/// "bad, good"
std::string classes_text(const data::Labels& labels) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < labels.count(); ++i) names.push_back(labels.name(i));
  return listed(names);
}

Unmatched unmatched(const training::Weights& own, const training::Weights& source) {
  Unmatched found;
  std::set<std::string> used;
  for (const auto& [name, tensor] : own)
    if (const auto from = source_of(name, tensor, source))
      used.insert(from->name);
    else
      found.missing.push_back(name);
  for (const auto& [name, tensor] : source)
    if (!used.contains(name) && !own.contains(name)) found.unused.push_back(name);
  return found;
}

/// Throws UsageError where a parameter would stay as it was drawn, or one of the source would be
/// left out, and training.init_from.allow does not name it. Nothing is drawn for a model that
/// nothing trains.
void check_fit(const training::Weights& own, const training::Weights& source,
               const training::TrainingOptions& options, const std::filesystem::path& folder) {
  const auto& allowed = options.init_from.allow;
  auto [missing, unused] = unmatched(own, source);
  if (options.trains())
    std::erase_if(missing, [&](const auto& name) { return is_allowed(name, allowed); });
  std::erase_if(unused, [&](const auto& name) { return is_allowed(name, allowed); });
  if (!missing.empty()) {
    for (auto& name : missing) name = with_shapes(name, own.at(name), source);
    throw UsageError(fmt::format(
        "{} has no weights for: {}; give the arm the model of that run{}", folder.string(),
        listed(missing),
        options.trains()
            ? ", or name in training.init_from.allow what is to begin as drawn (router, "
              "decoder.layers.3)"
            : ", since training.steps is 0 and nothing would train them"));
  }
  if (!unused.empty())
    throw UsageError(fmt::format(
        "the arm's model has no place for weights of {}: {}; give it the model of that run, or "
        "name what is left out in training.init_from.without or .allow",
        folder.string(), listed(unused)));
}

/// Whether the source run has other classes, so that its classifier cannot be copied. Throws
/// UsageError if training.init_from.allow does not name the classifier, or if this run would not
/// train a new one.
bool has_other_classes(const LoadedRun& source, const config::Experiment& own,
                       const StartedFrom& from) {
  const auto& theirs = source.tokenizers.labels;
  if (!theirs || !from.labels || *theirs == *from.labels) return false;
  const auto& start = own.training.init_from;
  const bool drawn = own.training.trains() && !start.split;
  if (drawn && is_allowed(kClassifier, start.allow)) return true;
  throw UsageError(fmt::format(
      "{} has the classes {}, and the training data of this run {}; give it data of those "
      "classes{}",
      from.folder.string(), classes_text(*theirs), classes_text(*from.labels),
      drawn ? ", or name classifier in training.init_from.allow, so that it begins as drawn" : ""));
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
  const bool other_classes = has_other_classes(source, experiment, from);
  if (start.split) {
    start_split(model, experiment, source, from.corpus, from.seed);
    messages << "split the feed-forwards of " << from.folder.string() << "\n" << std::flush;
    return description(source, start);
  }
  const auto& options = source.experiment.model;
  const auto left = [&](const training::Weights& weights) {
    auto all = training::without(weights, options, start.without);
    if (other_classes) all.erase(kClassifier);
    return all;
  };
  check_fit(parameters_of(model), left(parameters_of(*source.model)), experiment.training,
            from.folder);
  messages << copy_weights(model, left(training::weights_of(*source.model)), from.folder) << "\n"
           << std::flush;
  return description(source, start);
}

}  // namespace ablate::run
