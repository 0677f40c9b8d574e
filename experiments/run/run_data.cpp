#include "experiments/run/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "experiments/records/run_start.h"
#include "experiments/run/load_run.h"
#include "tokenizer/model_trainer.h"
#include "tokenizer/special_tokens.h"
#include "training/inference/length_check.h"

namespace ablate::run {
namespace {

bool fits_one_batch(const data::EncodedSet& set, const training::TrainingOptions& options) {
  if (set.text) return set.text->size() <= options.tokens_per_batch;
  const auto& examples = set.examples;
  int64_t longest = 0;
  for (const auto& example : examples) longest = std::max(longest, std::ssize(example.target));
  return longest * std::ssize(examples) <= options.tokens_per_batch;
}

/// The tokenizers that the configuration names; nullopt if they are to be learned.
std::optional<data::Tokenizers> named_tokenizers(const config::Experiment& experiment,
                                                 const std::filesystem::path& folder) {
  const auto both = [](const tokenizer::Tokenizer& one) { return data::Tokenizers{one, one}; };
  const auto* tokens = std::get_if<data::Tokens>(&experiment.data);
  if (tokens != nullptr && tokens->vocabulary)
    return both(tokenizer::Tokenizer::from_bytes(tokenizer::number_model(*tokens->vocabulary)));
  if (!experiment.tokenizer.file) return {};
  auto named = both(tokenizer::Tokenizer::load(folder / *experiment.tokenizer.file));
  const bool mask = named.source.vocabulary_size() > tokenizer::kMask &&
                    named.source.token(tokenizer::kMask) == tokenizer::kMaskToken;
  if (experiment.tokenizer.mask && !mask)
    throw tokenizer::TokenizerError(*experiment.tokenizer.file +
                                    " has no token <mask>, which tokenizer.mask asks for");
  return named;
}

/// Throws TokenizerError if a run that training starts from has another vocabulary than its files
/// of tokens.
void require_numbers(const data::DataOptions& data, const data::Tokenizers& tokenizers) {
  const auto* tokens = std::get_if<data::Tokens>(&data);
  if (tokens == nullptr || !tokens->vocabulary ||
      tokenizers.target.bytes() == tokenizer::number_model(*tokens->vocabulary))
    return;
  throw tokenizer::TokenizerError(
      "the run of training.init_from has a tokenizer of its own; leave data.vocabulary out if it "
      "wrote the tokens");
}

}  // namespace

data::Corpus read_corpus_of(const records::RunFolder& folder, const config::Experiment& experiment,
                            const std::string& data) {
  auto corpus = data::load(experiment.data, records::data_folder_of(folder.path, data), kDataSeed);
  const auto recorded = records::recorded_environment(folder);
  if (recorded.contains("data_sha256") && recorded.at("data_sha256") != corpus.sha256)
    throw data::DataError(folder.path.string() +
                          " was trained and tested on other data than these: their SHA-256 "
                          "differs; restore them, or give their folder with --data");
  return corpus;
}

namespace {

data::Tokenizers tokenizers_for(const config::Experiment& experiment,
                                const std::vector<data::Example>& train,
                                const std::filesystem::path& folder,
                                const std::optional<std::filesystem::path>& start) {
  auto tokenizers =
      config::format_of(experiment)
          .tokenizers(experiment.tokenizer, train,
                      start ? load_tokenizers(*start) : named_tokenizers(experiment, folder));
  require_numbers(experiment.data, tokenizers);
  return tokenizers;
}

}  // namespace

data::Tokenizers read_tokenizers(const config::Experiment& experiment,
                                 const std::filesystem::path& folder) {
  std::optional<std::filesystem::path> start;
  if (const auto& from = experiment.training.init_from.run) start = folder / *from;
  return tokenizers_for(experiment, data::load(experiment.data, folder, kDataSeed).train, folder,
                        start);
}

RunData read_run_data(const config::Experiment& experiment, const std::filesystem::path& folder,
                      const std::optional<std::filesystem::path>& start) {
  auto corpus = data::load(experiment.data, folder, kDataSeed);
  const auto format = config::format_of(experiment);
  auto tokenizers = tokenizers_for(experiment, corpus.train, folder, start);
  // The weights of a run that is only evaluated are those that it starts from.
  auto vectors = experiment.training.trains() ? read_vectors(experiment, tokenizers, folder)
                                              : std::vector<EmbeddingVectors>();
  auto train = format.encode_for_training(corpus.train, tokenizers);
  auto validation = format.encode(corpus.validation, tokenizers);
  training::check_lengths(experiment.model, "validation", validation.examples);
  check_lengths(experiment, format, tokenizers, corpus.tests);
  return {.corpus = std::move(corpus),
          .format = format,
          .tokenizers = std::move(tokenizers),
          .vectors = std::move(vectors),
          .train = std::move(train),
          .validation = std::move(validation),
          .token_dropout = experiment.tokenizer.dropout};
}

void check_lengths(const config::Experiment& experiment, const data::SequenceFormat& format,
                   const data::Tokenizers& tokenizers, const std::vector<data::TestSet>& tests) {
  for (const auto& test : tests) {
    const auto examples = format.encode(test.examples, tokenizers).examples;
    training::check_lengths(experiment.model, test.name, examples);
    if (format.compared() == data::Compared::text)
      training::check_outputs(experiment.model, test.name, examples, experiment.decoding);
  }
}

Cuts RunData::cuts(uint64_t seed) const {
  if (token_dropout == 0) return {train.cut_sources, train.cut_targets};
  const data::DroppedMerges merges(tokenizers, {.share = token_dropout, .seed = seed});
  const auto first = format.encode_for_training(corpus.train, merges.encoders(0));
  return {first.cut_sources, first.cut_targets};
}

TrainingText RunData::training_text() const {
  TrainingText text;
  for (const auto& [source, target, prompt, started] : train.examples) {
    text.tokens += std::ssize(target) - prompt;
    text.longest = std::max({text.longest, std::ssize(source), std::ssize(target)});
  }
  if (train.text) text.tokens = train.text->size();
  if (const auto chunking = format.augmentation(tokenizers, train.text).chunking)
    text.longest = std::min(chunking->block, text.tokens);
  return text;
}

std::vector<std::string> shortfalls(const config::Experiment& experiment, const RunData& data) {
  std::vector<std::string> notes;
  const auto wanted = experiment.tokenizer.vocabulary;
  const auto add_tokens = [&](const char* whose, const tokenizer::Tokenizer& made) {
    if (wanted && !experiment.training.init_from.given() && made.vocabulary_size() < *wanted)
      notes.push_back(
          fmt::format("the {}vocabulary has {} tokens instead of the {} of "
                      "tokenizer.vocabulary: the training text gives no more",
                      whose, made.vocabulary_size(), *wanted));
  };
  add_tokens(experiment.tokenizer.joint ? "" : "source ", data.tokenizers.source);
  if (!experiment.tokenizer.joint) add_tokens("target ", data.tokenizers.target);
  if (experiment.training.trains() && fits_one_batch(data.train, experiment.training))
    notes.push_back(
        fmt::format("the training set fits into one batch of training.tokens_per_batch ({}), so "
                    "every update sees the same {} examples",
                    experiment.training.tokens_per_batch, data.corpus.train.size()));
  const auto add_set = [&](const std::string& name, int64_t made, int64_t asked) {
    if (made < asked)
      notes.push_back(
          fmt::format("{} has {} of the {} examples that data.examples asks for: there "
                      "are not enough different ones",
                      name, made, asked));
  };
  std::visit(
      [&](const auto& task) {
        if constexpr (requires { task.examples.test; }) {
          add_set("the validation set", std::ssize(data.corpus.validation),
                  task.examples.validation);
          for (const auto& test : data.corpus.tests)
            add_set("the test set '" + test.name + "'", std::ssize(test.examples),
                    task.examples.test);
        }
      },
      experiment.data);
  return notes;
}

data::Augmentation RunData::augmentation(uint64_t seed) const {
  auto augmentation = format.augmentation(tokenizers, train.text);
  if (token_dropout == 0) return augmentation;
  const data::DroppedMerges merges(tokenizers, {.share = token_dropout, .seed = seed});
  augmentation.rewritten = [this, merges](int64_t epoch) {
    return format.encode_for_training(corpus.train, merges.encoders(epoch)).examples;
  };
  return augmentation;
}

}  // namespace ablate::run
