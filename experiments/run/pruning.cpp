#include "experiments/run/pruning.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/errors.h"
#include "experiments/run/evaluate.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

training::Weights copies_of(const models::TransformerImpl& model) {
  training::Weights copies;
  for (const auto& [name, tensor] : training::weights_of(model))
    copies[name] = tensor.detach().clone();
  return copies;
}

std::vector<models::HeadName> names_of(std::span<const training::HeadScore> heads) {
  std::vector<models::HeadName> names;
  for (const auto& head : heads) names.push_back(head.head);
  return names;
}

/// Scores a model without some of its heads, and restores them at the end.
class PrunedModel {
 public:
  PrunedModel(LoadedRun& run, const std::vector<data::EncodedExample>& validation,
              const training::LikelihoodOptions& options)
      : run_(run), validation_(validation), options_(options), whole_(copies_of(*run.model)) {}
  ~PrunedModel() { training::load_weights(*run_.model, whole_); }
  PrunedModel(const PrunedModel&) = delete;
  PrunedModel& operator=(const PrunedModel&) = delete;

  PrunePoint without(std::span<const training::HeadScore> heads) {
    training::load_weights(*run_.model,
                           training::drop_heads(whole_, run_.model->options(), names_of(heads)));
    const auto scores = training::likelihood(run_.model, validation_, options_);
    return {std::ssize(heads), scores.nll, scores.token_accuracy};
  }

 private:
  LoadedRun& run_;
  const std::vector<data::EncodedExample>& validation_;
  const training::LikelihoodOptions& options_;
  training::Weights whole_;
};

}  // namespace

Pruning prune(LoadedRun& run, const data::Corpus& corpus, const PruneOptions& options) {
  if (models::attentions_of(run.model->options()).empty())
    throw UsageError("this model has no attention heads to leave out");
  const auto set = run.format.encode(corpus.validation, run.tokenizers);
  const auto& validation = set.examples;
  const training::LikelihoodOptions scoring{run.experiment.training.tokens_per_batch,
                                            run.format.masking(run.tokenizers)};
  Pruning pruning{.heads = training::head_importance(run.model, validation, scoring),
                  .unknown_targets = unknown_share(set, run.model->labels())};
  std::ranges::stable_sort(pruning.heads, {}, &training::HeadScore::importance);
  const std::span<const training::HeadScore> heads(pruning.heads);
  PrunedModel model(run, validation, scoring);
  for (int64_t part = 0; part <= options.parts; ++part) {
    const auto count =
        heads.size() * static_cast<size_t>(part) / static_cast<size_t>(options.parts);
    if (part == 0 || std::ssize(heads.first(count)) > pruning.points.back().removed)
      pruning.points.push_back(model.without(heads.first(count)));
  }
  for (size_t i = 0; options.each && i < heads.size(); ++i)
    pruning.alone.push_back(model.without(heads.subspan(i, 1)));
  return pruning;
}

std::vector<std::string> sides_without_heads(const models::TransformerOptions& model) {
  std::vector<std::string> sentences;
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    if (!models::has_side(model.family, side)) continue;
    std::set<std::string_view> kinds;
    for (const auto& layer : models::stack_of(model, side).layers)
      if (models::head_count(layer.attention) == 0)
        kinds.insert(std::visit([](const auto& held) { return held.name; }, layer.attention));
    for (const auto& kind : kinds)
      sentences.push_back(fmt::format("the {}'s own attention is {}, which has no heads: skipped",
                                      text_of(side), kind));
  }
  return sentences;
}

void remove_heads(LoadedRun& run, std::span<const training::HeadScore> heads, int64_t count) {
  const auto removed = names_of(heads.first(static_cast<size_t>(count)));
  training::load_weights(*run.model, training::drop_heads(training::weights_of(*run.model),
                                                          run.model->options(), removed));
}

}  // namespace ablate::run
