#include "experiments/run/model_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "experiments/config/schema/printer.h"
#include "experiments/config/schema/schema.h"
#include "experiments/errors.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/load_run.h"
#include "experiments/run/prepare_run.h"
#include "experiments/run/run_data.h"
#include "experiments/run/start_model.h"
#include "experiments/run/update_cost.h"
#include "models/feed_forward.h"
#include "tokenizer/special_tokens.h"
#include "training/checkpoint_selection.h"
#include "training/device.h"
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

/// A table of modules, each below its owner.
class ModuleTree {
 public:
  explicit ModuleTree(const models::TransformerImpl& model) : model_(model) {}

  std::string text() && {
    add_below(model_, 1, "");
    for (const auto& item : model_.named_parameters(/*recurse=*/false))
      add_line(1, item.key(), item.value().numel(), c10::str(item.value().sizes()));
    return std::move(text_);
  }

 private:
  void add_line(int depth, const std::string& name, int64_t count, const std::string& note = {}) {
    const auto label = std::string(static_cast<size_t>(2 * depth), ' ') + name;
    text_ += fmt::format("{:<44} {:>14}{}{}\n", label, count, note.empty() ? "" : "  ", note);
  }

  void add_below(const torch::nn::Module& module, int depth, const std::string& path) {
    if (path == ".encoder.layers") return add_layers(module, depth, models::Side::encoder);
    if (path == ".decoder.layers") return add_layers(module, depth, models::Side::decoder);
    for (const auto& child : module.named_children()) {
      const auto count = models::parameter_count(*child.value());
      if (count == 0) continue;
      add_line(depth, child.key(), count);
      add_below(*child.value(), depth + 1, path + "." + child.key());
    }
  }

  /// Every kind of layer once, with its layers and the options in which they differ from the
  /// model's.
  void add_layers(const torch::nn::Module& list, int depth, models::Side side) {
    auto options = model_.options();
    const auto& layers = models::own_layers(options, side);
    const auto modules = list.children();
    std::vector<bool> shown(layers.size());
    for (size_t i = 0; i < layers.size(); ++i) {
      if (shown[i]) continue;
      std::vector<size_t> numbers;
      for (size_t j = i; j < layers.size(); ++j)
        if (layers[j] == layers[i]) {
          numbers.push_back(j + 1);
          shown[j] = true;
        }
      add_line(depth,
               numbers.size() == layers.size()
                   ? "each"
                   : fmt::format("{} {}", numbers.size() == 1 ? "layer" : "layers",
                                 fmt::join(numbers, ", ")),
               models::parameter_count(*modules[i]),
               config::layer_text(layers[i], model_.options().layer()));
      add_below(*modules[i], depth + 1, "");
    }
  }

  const models::TransformerImpl& model_;
  std::string text_;
};

}  // namespace

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
  double flops = 0;
  for (const auto& extent : passes.extents)
    flops += models::forward_flops(model.options(), model.vocabulary(), extent);
  return flops / static_cast<double>(passes.tokens);
}

config::ParameterCounter counted_parameters() {
  return [known = std::make_shared<std::map<std::string, int64_t>>()](
             const config::Experiment& experiment, int64_t vocabulary) {
    const auto key =
        fmt::format("{}\n{}", vocabulary, config::canonical({.model = experiment.model}));
    const auto [found, fresh] = known->try_emplace(key);
    const bool labels = std::holds_alternative<models::LabelHead>(experiment.model.output);
    if (fresh)
      found->second = models::parameter_count(*models::Transformer(
          experiment.model,
          models::Vocabulary{vocabulary, labels ? kCountedClasses : vocabulary, 0}));
    return found->second;
  };
}

std::vector<training::TrainingProblem> check_parts(const config::Experiment& experiment) {
  if (!experiment.training.names_parts()) return {};
  constexpr models::Vocabulary kAny{config::kMatchedVocabulary, config::kMatchedVocabulary, 0};
  return training::part_problems(*models::Transformer(experiment.model, kAny), experiment.training);
}

namespace {

bool is_in_files(const data::DataOptions& data) {
  return std::holds_alternative<data::Text>(data) || std::holds_alternative<data::Language>(data) ||
         std::holds_alternative<data::Tokens>(data);
}

}  // namespace

CountedVocabulary counted_vocabulary(const config::Experiment& experiment,
                                     const std::filesystem::path& folder,
                                     const std::optional<int64_t>& given) {
  const bool labels = std::holds_alternative<models::LabelHead>(experiment.model.output);
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
          .flops_per_token = models::forward_flops(options, vocabulary, {1, length, length}) /
                             static_cast<double>(length),
          .activation_bytes_per_token = activation_bytes(model, vocabulary, length)};
}

std::string module_tree(const models::TransformerImpl& model) { return ModuleTree(model).text(); }

namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Estimated seconds of the evaluation of one test set, from a batch of its examples.
double evaluation_seconds(const training::Translator& translator, data::TestSet test,
                          config::Experiment experiment) {
  const auto all = static_cast<double>(test.examples.size());
  const auto rows = static_cast<size_t>(experiment.decoding.batch);
  if (test.examples.size() > rows) test.examples.resize(rows);
  const auto encoded = translator.format.encode(test.examples, translator.tokenizers);
  double tokens = 0;
  for (const auto& example : encoded.examples)
    tokens +=
        static_cast<double>(example.target.size() - static_cast<size_t>(example.prompt_length));
  auto& decoding = experiment.decoding;
  const auto length = std::llround(tokens / static_cast<double>(encoded.examples.size()));
  decoding.max_length = std::clamp<int64_t>(length, 1, decoding.max_length);
  decoding.min_length = decoding.max_length - 1;
  const auto sampled = static_cast<double>(test.examples.size());
  const Stopwatch watch;
  evaluate(translator, {std::move(test)}, experiment);
  return watch.seconds() * all / sampled;
}

/// Seconds of all validations.
double validation_seconds(const config::Experiment& experiment, const RunData& data,
                          models::Transformer& model, int64_t steps) {
  const auto& options = experiment.training;
  const Stopwatch watch;
  training::likelihood(model, data.validation.examples, {options.tokens_per_batch, data.masking()});
  const int64_t validations = 1 + (options.evaluate_every > 0 ? steps / options.evaluate_every : 0);
  return static_cast<double>(validations) * watch.seconds();
}

double test_seconds(const config::Experiment& experiment, const RunData& data,
                    models::Transformer& model) {
  double seconds = 0;
  const training::Translator translator{models::InferenceModel(model), data.tokenizers,
                                        data.format};
  for (const auto& test : data.corpus.tests)
    seconds += evaluation_seconds(translator, test, experiment);
  return seconds;
}

/// The newest of save_every, the last one, and those of the last validation, taken for the best.
int64_t kept_checkpoints(const training::TrainingOptions& options, int64_t steps) {
  std::set<int64_t> kept{steps};
  const int64_t made = steps / options.save_every;
  for (int64_t i = 0; i < std::min(options.keep, made); ++i)
    kept.insert((made - i) * options.save_every);
  if (options.evaluate_every > 0 && steps >= options.evaluate_every) {
    const auto best = steps - steps % options.evaluate_every;
    kept.insert(best);
    for (const auto step : training::averaged_steps(best, options.average, options.save_every))
      kept.insert(step);
  }
  return std::ssize(kept);
}

int64_t weight_bytes(int64_t parameters) {
  return parameters * static_cast<int64_t>(sizeof(float));
}

int64_t checkpoint_bytes(const training::TrainingOptions& options,
                         const records::RunEstimate& run) {
  constexpr int64_t kMoments = 2;
  const int64_t average = options.ema > 0 ? 1 : 0;
  return weight_bytes(run.parameters * (1 + average) + run.trained_parameters * kMoments);
}

/// The data and the model of a run that is only estimated.
struct Planned {
  RunData data;
  models::Transformer model;
};

Planned planned(const RunJob& job) {
  const auto& from = job.experiment.training.init_from.run;
  std::optional<std::filesystem::path> start;
  if (from) start = std::filesystem::path(job.plan.data_folder) / *from;
  auto data = read_run_data(job.experiment, job.plan.data_folder, start);
  auto model = make_model(job.experiment, data.tokenizers);
  choose_trained(*model, job.experiment.training, job.seed());
  return {std::move(data), std::move(model)};
}

/// What can be counted: all but seconds and memory. `update` is the time of an update.
records::RunEstimate counted(const config::Experiment& experiment, const Planned& run,
                             double update) {
  const auto& options = experiment.training;
  records::RunEstimate estimate{.parameters = models::parameter_count(*run.model),
                                .active_parameters = active_parameter_count(*run.model),
                                .trained_parameters = training::trained_parameter_count(*run.model),
                                .notes = shortfalls(experiment, run.data)};
  if (options.trains()) {
    const auto length = run_length(experiment, run.data, *run.model, update);
    estimate.steps = length.updates;
    estimate.flops = static_cast<double>(length.updates) * length.cost.flops;
  }
  const auto checkpoints = options.trains() ? kept_checkpoints(options, estimate.steps) : 1;
  estimate.disk_bytes = options.trains() ? checkpoints * checkpoint_bytes(options, estimate)
                                         : weight_bytes(estimate.parameters);
  return estimate;
}

}  // namespace

records::RunEstimate estimate_run(const RunJob& job, std::ostream& messages) {
  const Stopwatch watch;
  const auto environment = set_up(job, messages);
  const auto& options = job.experiment.training;
  auto run = planned(job);
  models::initialize(*run.model, job.seed());
  run.model->to(environment.device);
  const double preparation = watch.seconds();
  const double update = options.trains() ? seconds_per_update(job.experiment, run.data,
                                                              environment.precision, run.model)
                                         : 0;
  auto estimate = counted(job.experiment, run, update);
  const double validating = validation_seconds(job.experiment, run.data, run.model, estimate.steps);
  estimate.test_seconds = test_seconds(job.experiment, run.data, run.model);
  estimate.seconds = preparation + static_cast<double>(estimate.steps) * update + validating +
                     estimate.test_seconds;
  estimate.memory_bytes = training::peak_memory(environment.device);
  estimate.calibration_seconds = watch.seconds();
  return estimate;
}

records::RunEstimate count_run(const RunJob& job) {
  const Stopwatch watch;
  at::set_num_threads(static_cast<int>(job.threads));
  if (std::holds_alternative<training::TimeBudget>(job.experiment.training.budget))
    throw UsageError(
        "training.budget is in seconds, and only timed updates tell how many steps that is; leave "
        "out --launcher to time them on this machine");
  auto estimate = counted(job.experiment, planned(job), 0);
  estimate.seconds = estimate.test_seconds = std::numeric_limits<double>::quiet_NaN();
  estimate.calibration_seconds = watch.seconds();
  return estimate;
}

}  // namespace ablate::run
