#include "experiments/run/start_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "experiments/config/study/study_notes.h"
#include "experiments/errors.h"
#include "experiments/run/load_run.h"
#include "experiments/run/moefication/moefication.h"
#include "models/libtorch.h"
#include "models/random.h"
#include "training/checkpoint/checkpoint.h"
#include "training/part_names.h"
#include "training/trained_parts.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

const std::string kClassifier = "classifier";  // the weight that has a row for each class

/// A weight of the starting run.
struct Source {
  std::string name;
  torch::Tensor weight;
};

/// The weight that `tensor`, named `name`, can start from: the one with its name and shape, or for
/// a mixture that of a dense feed-forward with an expert's shape (sparse upcycling, Komatsuzaki et
/// al. 2022). nullopt if there is none.
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
  // In a mixture a neuron's weights are a row in both layers, in a dense feed-forward a column in
  // the second.
  const auto weight = name.ends_with("down") ? dense->second.t() : dense->second;
  if (weight.sizes() != tensor.sizes().slice(1)) return {};
  return Source{dense->first, weight.unsqueeze(0).expand_as(tensor)};
}

/// Copies the weights that fit, and returns how many they are and which of the model's keep their
/// initial values.
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

bool is_allowed(const std::string& name, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(
      allowed, [&](const std::string& words) { return training::is_named(name, words); });
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
  std::vector<std::string> missing;  // of this run's model, with shapes
  std::vector<std::string> unused;   // of the source
};

/// "bad, good"
std::string classes_text(const data::Labels& labels) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < labels.count(); ++i) names.push_back(labels.name(i));
  return config::listed(names);
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

/// Throws UsageError if a parameter would keep its initial value, or one of the source would be
/// unused, and training.init_from.allow does not name it. Without training no parameter may keep
/// its initial value.
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
        config::listed(missing),
        options.trains() ? ", or name the parameters that may keep their initial values in "
                           "training.init_from.allow (router, decoder.layers.3)"
                         : ", since training.steps is 0 and they would not be trained"));
  }
  if (!unused.empty())
    throw UsageError(
        fmt::format("the arm's model has no place for weights of {}: {}; give it the model of that "
                    "run, or name the unused parts in training.init_from.drop or .allow",
                    folder.string(), config::listed(unused)));
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

/// How training changes the bias by which an imported model never writes tokens that the original
/// lacks, a line each; empty if the model has no such bias or keeps it.
std::string suppression_notes(const LoadedRun& source, const training::TrainingOptions& options) {
  constexpr const char* kBias = "output_bias";
  const auto* head = std::get_if<models::LmHead>(&source.experiment.model.output);
  if (head == nullptr || !head->bias || !options.trains()) return "";
  const auto& ids = source.tokenizers.target.ids();
  const auto bias = training::weights_of(*source.model).at(kBias);  // [V]
  int64_t never = 0;
  double depth = 0;
  for (int32_t id = 0; id < ids.size(); ++id)
    if (!ids.is_written(id)) {
      ++never;
      depth -= bias[id].item<double>();
    }
  if (never == 0) return "";
  const auto tokens =
      fmt::format("{} token{} that the imported model lacks", never, never == 1 ? "" : "s");
  std::string notes;
  if (!head->transform && !options.lora.given() && !is_allowed(kBias, options.freeze))
    notes += fmt::format(
        "training changes the bias that keeps {} from being written, and few families of --format "
        "huggingface hold such a bias; training.freeze: [{}] keeps the model exportable\n",
        tokens, kBias);
  if (options.label_smoothing > 0)
    notes += fmt::format(
        "training.label_smoothing spreads probability over {}, too, which adds about {:.2g} to the "
        "training loss\n",
        tokens, options.label_smoothing * depth / static_cast<double>(ids.size()));
  return notes;
}

/// The description of the weights that were taken.
std::string description(const LoadedRun& source, const training::InitFromOptions& start) {
  std::vector<std::string> parts = start.drop.layers;
  parts.insert(parts.end(), start.drop.heads.begin(), start.drop.heads.end());
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
    auto all = training::drop_parts(weights, options, start.drop);
    if (other_classes) all.erase(kClassifier);
    return all;
  };
  check_fit(parameters_of(model), left(parameters_of(*source.model)), experiment.training,
            from.folder);
  messages << copy_weights(model, left(training::weights_of(*source.model)), from.folder) << "\n"
           << suppression_notes(source, experiment.training) << std::flush;
  return description(source, start);
}

void choose_trained(models::TransformerImpl& model, const training::TrainingOptions& options,
                    uint64_t seed) {
  for (const auto& [key, why] : training::part_problems(model, options))
    throw UsageError(fmt::format("training.{} {}", key, why));
  training::choose_parts(model, options, models::derive_seed(seed, "weights"));
}

std::string trained_text(const models::TransformerImpl& model) {
  const auto trained = training::trained_parameter_count(model);
  const auto all = models::parameter_count(model);
  if (trained == all) return "";
  const auto& output = model.output_weight();
  const bool tied =
      output.is_same(model.source_embedding()) || output.is_same(model.target_embedding());
  return fmt::format("{} parameters are trained, the model has {}{}", trained, all,
                     tied && !output.requires_grad()
                         ? "; the output is frozen with the embedding, whose matrix it is"
                         : "");
}

}  // namespace ablate::run
