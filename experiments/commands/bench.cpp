#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "data/batch.h"
#include "data/random.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/number_flags.h"
#include "experiments/config/study/study.h"
#include "experiments/errors.h"
#include "experiments/run/model_cost.h"
#include "experiments/run/start_model.h"
#include "models/hardware.h"
#include "models/inference/inference_model.h"
#include "models/random.h"
#include "tokenizer/special_tokens.h"
#include "training/device.h"
#include "training/process/machine.h"
#include "training/schedule.h"
#include "training/update.h"

namespace ablate::commands {
namespace {

constexpr size_t kBatches = 20;
constexpr int64_t kCpuWarmUp = 4;
constexpr uint64_t kSeed = 1;
constexpr int64_t kDecodedSource = 14, kDecodedTarget = 20;
constexpr int64_t kBenchVocabulary = 8000;
constexpr int32_t kClasses = 2;  // of a classifier

struct BenchRequest {
  std::string study;
  std::string batches;
  std::string precision;
  config::Selection selection;
  int64_t steps = 20;
  int64_t batch = 64;
  std::optional<int64_t> vocabulary;
  int64_t threads = 0;
  bool json = false;
};

std::vector<int32_t> sentence(data::Random& random, int64_t length, int64_t vocabulary) {
  std::vector<int32_t> ids;
  for (int64_t i = 1; i < length; ++i)
    ids.push_back(static_cast<int32_t>(random.between(tokenizer::kUnk + 1, vocabulary - 1)));
  ids.push_back(tokenizer::kEos);
  return ids;
}

/// Pairs with the length statistics of Multi30k: about 14 tokens a side, both sides alike.
std::vector<data::EncodedExample> make_pairs(int64_t vocabulary) {
  data::Random random(kSeed, "bench");
  std::vector<data::EncodedExample> examples;
  for (int64_t i = 0; i < 12'000; ++i) {
    int64_t length = 0;
    for (int64_t k = 0; k < 4; ++k) length += random.between(0, 5);
    const int64_t source = std::max<int64_t>(3, length + 5);
    const int64_t target = std::max<int64_t>(3, source + random.between(-3, 3));
    auto left = sentence(random, source, vocabulary);
    examples.push_back({std::move(left), sentence(random, target, vocabulary)});
  }
  return examples;
}

/// As many rows of `block` tokens as the batches of a benchmark hold.
std::vector<data::EncodedExample> make_rows(int64_t block, int64_t tokens_per_batch,
                                            int64_t vocabulary) {
  data::Random random(kSeed, "bench");
  std::vector<data::EncodedExample> examples;
  const auto rows = kBatches * static_cast<size_t>(std::max<int64_t>(1, tokens_per_batch / block));
  while (examples.size() < rows)
    examples.push_back({{tokenizer::kEos}, sentence(random, block, vocabulary)});
  return examples;
}

/// Batches of random ids in rows as long as the study's: blocks of running text, or pairs of
/// sentences. Targets of an encoder are at the positions of its sources, or one class of each.
std::vector<data::Batch> make_batches(const config::Experiment& experiment, int64_t vocabulary) {
  const auto tokens_per_batch = experiment.training.tokens_per_batch;
  const auto block = block_of(experiment.data);
  const bool labels = models::predicts_labels(experiment.model.output);
  auto examples = block ? make_rows(*block, tokens_per_batch, vocabulary) : make_pairs(vocabulary);
  int32_t next = 0;
  if (labels)
    for (auto& example : examples) example.target = {next++ % kClasses};
  std::vector<data::Batch> batches;
  const auto plan =
      data::batch_plan(data::lengths_of(examples),
                       {.tokens_per_batch = tokens_per_batch, .seed = kSeed, .epoch = 0});
  for (size_t i = 0; i < std::min(plan.size(), kBatches); ++i) {
    auto batch = data::collate(examples, plan[i]);
    if (experiment.model.family == models::Family::encoder_only && !labels) {
      batch.source = batch.target_in = batch.target_out;
      batch.source_length = batch.target_length;
    }
    batches.push_back(std::move(batch));
  }
  return batches;
}

nlohmann::json rows(const std::vector<int64_t>& values, int64_t length) {
  auto all = nlohmann::json::array();
  for (size_t begin = 0; begin < values.size(); begin += static_cast<size_t>(length))
    all.push_back(
        std::vector<int64_t>(values.begin() + static_cast<std::ptrdiff_t>(begin),
                             values.begin() + static_cast<std::ptrdiff_t>(begin) + length));
  return all;
}

/// The keys of the dropout that the PyTorch twin, which has that of model.dropout alone, lacks.
std::vector<std::string> other_dropouts(const models::TransformerOptions& model) {
  std::vector<std::string> keys;
  const auto add = [&](const char* key, const auto* part) {
    if (part != nullptr && part->dropout > 0) keys.emplace_back(key);
  };
  add("model.attention.dropout", std::get_if<models::MultiHead>(&model.layer.attention));
  add("model.cross_attention.dropout",
      std::get_if<models::MultiHead>(&model.layer.cross_attention));
  add("model.feed_forward.dropout",
      std::get_if<models::DenseFeedForward>(&model.layer.feed_forward));
  add("model.output.dropout", std::get_if<models::LabelHead>(&model.output));
  if (model.embedding_dropout.value_or(model.dropout) != model.dropout)
    keys.emplace_back("model.embedding_dropout");
  if (model.final_dropout > 0) keys.emplace_back("model.final_dropout");
  return keys;
}

void write_batches(const BenchRequest& request, const config::Experiment& experiment,
                   int64_t vocabulary, const std::vector<data::Batch>& batches) {
  const auto& model = experiment.model;
  const auto* dense = std::get_if<models::DenseFeedForward>(&model.layer.feed_forward);
  const auto* attention = std::get_if<models::MultiHead>(&model.layer.attention);
  if (dense == nullptr || attention == nullptr || !model.encoder.empty() || !model.decoder.empty())
    throw UsageError(
        "--batches writes for the PyTorch twin, which has multi_head attention and a "
        "dense feed_forward only");
  if (const auto keys = other_dropouts(model); !keys.empty())
    throw UsageError(fmt::format(
        "--batches writes for the PyTorch twin, which drops by model.dropout alone; leave out {}",
        fmt::join(keys, ", ")));
  std::ofstream stream(request.batches);
  stream << nlohmann::json{{"vocabulary", vocabulary},
                           {"model",
                            {{"d_model", model.d_model},
                             {"layers", model.layers},
                             {"heads", attention->heads},
                             {"d_hidden", dense->d_hidden},
                             {"dropout", model.dropout}}},
                           {"label_smoothing", experiment.training.label_smoothing},
                           {"learning_rate",
                            training::learning_rate(experiment.training.schedule, 1, 1000)}}
                .dump()
         << '\n';
  for (const auto& batch : batches)
    stream << nlohmann::json{{"source", rows(batch.source, batch.source_length)},
                             {"target_in", rows(batch.target_in, batch.target_length)},
                             {"target_out", rows(batch.target_out, batch.target_length)}}
                  .dump()
           << '\n';
  if (!stream.flush())
    throw std::filesystem::filesystem_error("cannot write the batches", request.batches,
                                            std::make_error_code(std::errc::io_error));
}

/// Adds up the seconds that the parts of updates take; the device is not waited for.
class PartTimes {
 public:
  void add(training::UpdatePart part) {
    const auto now = std::chrono::steady_clock::now();
    seconds_[static_cast<size_t>(part)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double of(training::UpdatePart part) const { return seconds_[static_cast<size_t>(part)]; }

 private:
  std::array<double, 4> seconds_ = {};
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Measured {
  double tokens_per_second = 0, loss = 0, peak_memory_mb = 0;
  PartTimes times;
};

models::Transformer random_model(const config::Experiment& experiment, int64_t vocabulary) {
  torch::manual_seed(kSeed);  // of the ids to decode
  const bool labels = models::predicts_labels(experiment.model.output);
  models::Transformer model(
      experiment.model,
      models::Vocabulary{vocabulary, labels ? kClasses : vocabulary, tokenizer::kPad});
  models::initialize(*model, kSeed);
  model->to(training::resolve(experiment.training.device));
  return model;
}

Measured measure(models::Transformer model, const config::Experiment& experiment,
                 const std::vector<data::Batch>& batches, int64_t steps) {
  const auto optimizer = training::make_optimizer(experiment.training.optimizer, *model,
                                                  experiment.training.lr_multipliers);
  const auto graphs =
      training::make_graphs(model, experiment.training, experiment.training.precision);
  const auto device = model->output_weight().device();
  // A GPU's libraries choose their kernels at the first sight of a shape.
  const int64_t warm_up = device.is_cuda() ? std::ssize(batches) : kCpuWarmUp;
  Measured measured;
  int64_t tokens = 0;
  auto start = std::chrono::steady_clock::now();
  for (int64_t step = 0; step < warm_up + steps; ++step) {
    if (step == warm_up) {
      start = std::chrono::steady_clock::now();
      measured.times = {};
      tokens = 0;
    }
    const auto& batch = batches[static_cast<size_t>(step) % batches.size()];
    auto options = training::update_options(experiment.training, experiment.model,
                                            experiment.training.steps / 2 + 1);
    options.dropout_seed = models::derive_seed(kSeed, "dropout", static_cast<uint64_t>(step));
    options.graphs = graphs.get();
    options.finished = [&](training::UpdatePart part) { measured.times.add(part); };
    const auto record = training::update(model, *optimizer, {&batch, 1}, options);
    measured.loss = record.loss;
    tokens += record.tokens;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  measured.tokens_per_second = static_cast<double>(tokens) / seconds.count();
  measured.peak_memory_mb =
      static_cast<double>(training::peak_memory(device)) / static_cast<double>(int64_t{1} << 20);
  return measured;
}

config::Experiment first_experiment(const BenchRequest& request) {
  at::set_num_threads(
      static_cast<int>(request.threads > 0 ? request.threads : training::available_cores()));
  auto selection = request.selection;
  selection.count = run::counted_parameters();
  const auto study = config::read_study(request.study, selection);
  const auto& experiment = study.runs.front().experiment;
  models::allow_mkl_fast_path(experiment.training.mkl_fast_path);
  return experiment;
}

/// Of the synthetic ids, and of the model that reads them.
int64_t bench_vocabulary(const BenchRequest& request, const config::Experiment& experiment) {
  const auto declared = config::declared_vocabulary(experiment);
  return request.vocabulary.value_or(declared ? declared->tokens : kBenchVocabulary);
}

/// Times greedy steps on random sources with random weights; no output ends.
void bench_decode(const BenchRequest& request) {
  const auto experiment = first_experiment(request);
  const auto vocabulary = bench_vocabulary(request, experiment);
  const models::InferenceModel model(random_model(experiment, vocabulary),
                                     experiment.training.precision == training::Precision::bf16
                                         ? models::WeightDtype::bf16
                                         : models::WeightDtype::fp32);
  if (model.family() == models::Family::encoder_only)
    throw UsageError("an encoder does not generate; choose another model.family");
  const torch::NoGradGuard no_grad;
  const auto source =
      torch::randint(tokenizer::kUnk + 1, vocabulary, {request.batch, kDecodedSource}, torch::kLong)
          .to(model.device());
  std::vector<double> seconds;
  for (int64_t round = 0; round <= request.steps; ++round) {
    const auto start = std::chrono::steady_clock::now();
    auto cache = model.prefill(source);
    auto last = source.select(1, 0);
    for (int64_t step = 0; step < kDecodedTarget; ++step) last = model.step(last, cache).argmax(-1);
    last = last.cpu();  // a device has computed it once it is here
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (round > 0) seconds.push_back(time.count());
  }
  std::ranges::nth_element(seconds, seconds.begin() + std::ssize(seconds) / 2);
  const double rate =
      static_cast<double>(request.batch * kDecodedTarget) / seconds[seconds.size() / 2];
  if (request.json)
    std::cout << nlohmann::json{{"tokens_per_second", rate}, {"vocabulary", vocabulary}}.dump()
              << "\n";
  else
    std::cout << fmt::format("{:.0f} target tokens/s with a vocabulary of {}, median of {} times\n",
                             rate, vocabulary, seconds.size());
}

void bench_train(const BenchRequest& request) {
  const auto experiment = first_experiment(request);
  const auto vocabulary = bench_vocabulary(request, experiment);
  const auto batches = make_batches(experiment, vocabulary);
  if (!request.batches.empty()) write_batches(request, experiment, vocabulary, batches);
  auto model = random_model(experiment, vocabulary);
  run::choose_trained(*model, experiment.training, kSeed);
  model->to(training::resolve(experiment.training.device));  // adapters, too
  const auto measured = measure(std::move(model), experiment, batches, request.steps);
  using training::UpdatePart;
  const auto each = [&](UpdatePart part) {
    return measured.times.of(part) / static_cast<double>(request.steps);
  };
  if (request.json) {
    std::cout << nlohmann::json{{"tokens_per_second", measured.tokens_per_second},
                                {"vocabulary", vocabulary},
                                {"peak_memory_mb", measured.peak_memory_mb},
                                {"loss", measured.loss},
                                {"breakdown",
                                 {{"forward", each(UpdatePart::forward)},
                                  {"backward", each(UpdatePart::backward)},
                                  {"optimizer", each(UpdatePart::optimizer)},
                                  {"data", each(UpdatePart::data)}}}}
                     .dump()
              << "\n";
    return;
  }
  std::cout << fmt::format(
      "{:.0f} target tokens/s with a vocabulary of {}, peak memory {:.0f} MB; seconds a step: "
      "forward {:.3f}, backward {:.3f}, optimizer {:.3f}, data {:.3f}\n",
      measured.tokens_per_second, vocabulary, measured.peak_memory_mb, each(UpdatePart::forward),
      each(UpdatePart::backward), each(UpdatePart::optimizer), each(UpdatePart::data));
}

void add_bench_flags(CLI::App& verb, BenchRequest& request) {
  verb.add_option("study", request.study, "The study's YAML file")->required();
  verb.add_option("--threads", request.threads, "CPU threads; absent: all cores")
      ->check(between(1, 1024));
  verb.add_option("--precision", request.precision, "Of matrix products; absent: the study's")
      ->type_name(type_of_words({"fp32", "bf16"}));
  verb.add_option("--vocabulary", request.vocabulary,
                  "Tokens of the vocabulary; absent: as tokenizer.vocabulary says, or 8000")
      ->check(between(16, 1'000'000));
  add_set_flag(verb, request.selection.sets);
  verb.add_flag("--json", request.json, "Print one JSON object");
}

BenchRequest complete(BenchRequest request) {
  if (!request.precision.empty())
    request.selection.sets.push_back("training.precision=" + request.precision);
  return request;
}

}  // namespace

void add_bench(CLI::App& app) {
  auto request = std::make_shared<BenchRequest>();
  auto* verb = app.add_subcommand("bench", "Measure speed");
  verb->require_subcommand(1);
  auto* train =
      verb->add_subcommand("train", "Training speed of a study's first arm on synthetic batches");
  add_bench_flags(*train, *request);
  train->add_option("--steps", request->steps, "Measured steps")
      ->check(between(1, 100'000))
      ->capture_default_str();
  train->add_option("--batches", request->batches, "Write the batches to this file");
  train->footer("Example:\n  ablate bench train bench/small.yaml --precision bf16 --threads 2");
  train->callback([request] { bench_train(complete(*request)); });
  auto* decode = verb->add_subcommand(
      "decode", "Speed of greedy steps of a study's first arm on synthetic sources");
  add_bench_flags(*decode, *request);
  decode->add_option("--batch", request->batch, "Sentences together")
      ->check(between(1, 65'536))
      ->capture_default_str();
  decode->add_option("--steps", request->steps, "Measured batches, of 20 tokens a sentence")
      ->check(between(1, 100'000))
      ->capture_default_str();
  decode->footer("Example:\n  ablate bench decode bench/small.yaml --batch 1 --threads 1");
  decode->callback([request] { bench_decode(complete(*request)); });
}

}  // namespace ablate::commands
