#include "experiments/run/model_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "experiments/config/schema/printer.h"
#include "experiments/config/schema/schema.h"
#include "experiments/records/result.h"
#include "experiments/run/load_run.h"
#include "experiments/run/run_data.h"
#include "models/feed_forward/feed_forward.h"
#include "tokenizer/special_tokens.h"
#include "training/caching_allocator.h"
#include "training/likelihood.h"
#include "training/trained_parts.h"
#include "training/update.h"

namespace ablate::run {
namespace {

constexpr int64_t kRows = 8;
constexpr int64_t kCountedClasses = 2;  // of a label head, before its data is read

int64_t own_parameters(const torch::nn::Module& module) {
  int64_t count = 0;
  for (const auto& item : module.named_parameters(/*recurse=*/false))
    if (!models::is_adapter(item.key())) count += item.value().numel();
  return count;
}

/// The share of a module's own parameters that one position uses: active / experts of a mixture,
/// all of any other.
double used_share(const torch::nn::Module& module) {
  const auto* mixture = dynamic_cast<const models::Mixture*>(&module);
  if (mixture == nullptr) return 1.0;
  return static_cast<double>(mixture->active()) / static_cast<double>(mixture->experts());
}

double activation_bytes(models::Transformer& model, const models::Vocabulary& vocabulary,
                        int64_t length) {
  const auto source = torch::randint(4, vocabulary.source, {kRows, length});
  const auto target =
      model->labels() ? torch::Tensor() : torch::randint(4, vocabulary.target, {kRows, length});
  auto& allocator = training::CachingAllocator::instance();
  const auto before = allocator.statistics().in_use;
  const auto output = model->hidden(source, target, {.training = true, .dropout = 0.1, .seed = 1});
  const auto after = allocator.statistics().in_use;
  return static_cast<double>(after - before) / static_cast<double>(kRows * length);
}

bool is_in_files(const data::DataOptions& data) {
  return std::holds_alternative<data::Text>(data) || std::holds_alternative<data::Language>(data) ||
         std::holds_alternative<data::Tokens>(data);
}

}  // namespace

int64_t table_parameter_count(const models::TransformerImpl& model) {
  std::vector<torch::Tensor> counted;
  int64_t count = 0;
  for (const auto& table :
       {model.source_embedding(), model.target_embedding(), model.output_weight()}) {
    const auto same = [&](const torch::Tensor& other) { return other.is_same(table); };
    if (!table.defined() || std::ranges::any_of(counted, same)) continue;
    counted.push_back(table);
    count += table.numel();
  }
  return count;
}

int64_t active_parameter_count(const models::TransformerImpl& model) {
  double count = 0;
  for (const auto& module : model.modules())
    count += used_share(*module) * static_cast<double>(own_parameters(*module));
  return std::llround(count);
}

ScoringPasses scoring_passes(training::ScoredBatches batches) {
  ScoringPasses passes;
  for (int64_t i = 0; i < batches.count(); ++i) {
    const auto batch = batches.next();
    passes.extents.push_back(training::extent_of(batch));
    passes.tokens += batch.tokens;
  }
  return passes;
}

double flops_per_token(const models::TransformerImpl& model, const ScoringPasses& passes) {
  if (passes.tokens == 0) return records::kNotMeasured;
  models::PassFlops counted(model);
  double flops = 0;
  for (const auto& extent : passes.extents) flops += counted.forward(extent);
  return flops / static_cast<double>(passes.tokens);
}

config::ParameterCounter counted_parameters() {
  return [known = std::make_shared<std::map<std::string, int64_t>>()](
             const config::Experiment& experiment, int64_t vocabulary) {
    const auto key =
        fmt::format("{}\n{}", vocabulary, config::canonical({.model = experiment.model}));
    const auto [found, fresh] = known->try_emplace(key);
    const bool labels = models::predicts_labels(experiment.model.output);
    if (fresh) {
      const models::ShapesOnly shapes;
      found->second = models::parameter_count(*models::Transformer(
          experiment.model,
          models::Vocabulary{vocabulary, labels ? kCountedClasses : vocabulary, 0}));
    }
    return found->second;
  };
}

std::vector<training::TrainingProblem> check_parts(const config::Experiment& experiment) {
  if (!experiment.training.names_parts()) return {};
  constexpr models::Vocabulary kAny{config::kMatchedVocabulary, config::kMatchedVocabulary, 0};
  return training::part_problems(*models::Transformer(experiment.model, kAny), experiment.training);
}

CountedVocabulary counted_vocabulary(const config::Experiment& experiment,
                                     const std::filesystem::path& folder,
                                     const std::optional<int64_t>& given) {
  const bool labels = models::predicts_labels(experiment.model.output);
  if (given && !labels) return {{*given, *given, tokenizer::kPad}, "--vocabulary"};
  const auto declared = config::declared_vocabulary(experiment);
  if (declared && is_in_files(experiment.data))
    return {{declared->tokens, declared->tokens, tokenizer::kPad}, declared->key};
  auto sizes = vocabulary_of(experiment, read_tokenizers(experiment, folder));
  if (given) sizes.source = *given;
  return {sizes, given ? "--vocabulary" : "the data"};
}

ModelCost cost_of(const models::TransformerOptions& options, const models::Vocabulary& vocabulary,
                  int64_t length) {
  torch::manual_seed(1);  // of the ids
  models::Transformer model(options, vocabulary);
  models::initialize(*model, 1);
  return {.parameters = models::parameter_count(*model),
          .active_parameters = active_parameter_count(*model),
          .flops_per_token = models::PassFlops(*model).forward_in_training({1, length, length}) /
                             static_cast<double>(length),
          .activation_bytes_per_token = activation_bytes(model, vocabulary, length)};
}

}  // namespace ablate::run
