#include "experiments/run/run_data.h"

#include "experiments/records/environment.h"
#include "experiments/run/load_run.h"
#include "training/inference/length_check.h"

namespace ablate::run {

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

RunData read_run_data(const config::Experiment& experiment, const std::filesystem::path& folder,
                      const std::optional<std::filesystem::path>& start) {
  auto corpus = data::load(experiment.data, folder, kDataSeed);
  const auto format = config::format_of(experiment);
  auto tokenizers =
      format.tokenizers(experiment.tokenizer, corpus.train,
                        start ? std::optional(load_tokenizers(*start)) : std::nullopt);
  // The weights of a run that is only evaluated are those that it starts from.
  auto vectors = experiment.training.trains() ? read_vectors(experiment, tokenizers, folder)
                                              : std::vector<EmbeddingVectors>();
  auto train = format.encode_for_training(corpus.train, tokenizers);
  auto validation = format.encode(corpus.validation, tokenizers);
  training::check_lengths(experiment.model, "validation", validation.examples);
  check_lengths(experiment.model, format, tokenizers, corpus.tests);
  return {.corpus = std::move(corpus),
          .format = format,
          .tokenizers = std::move(tokenizers),
          .vectors = std::move(vectors),
          .train = std::move(train),
          .validation = std::move(validation),
          .token_dropout = experiment.tokenizer.dropout};
}

void check_lengths(const models::TransformerOptions& model, const data::SequenceFormat& format,
                   const data::Tokenizers& tokenizers, const std::vector<data::TestSet>& tests) {
  for (const auto& test : tests)
    training::check_lengths(model, test.name, format.encode(test.examples, tokenizers).examples);
}

Cuts RunData::cuts(uint64_t seed) const {
  if (token_dropout == 0) return {train.cut_sources, train.cut_targets};
  const data::DroppedMerges merges(tokenizers, {.share = token_dropout, .seed = seed});
  const auto first = format.encode_for_training(corpus.train, merges.encoders(0));
  return {first.cut_sources, first.cut_targets};
}

data::Augmentation RunData::augmentation(uint64_t seed) const {
  auto augmentation = format.augmentation(tokenizers);
  if (token_dropout == 0) return augmentation;
  const data::DroppedMerges merges(tokenizers, {.share = token_dropout, .seed = seed});
  augmentation.rewritten = [this, merges](int64_t epoch) {
    return format.encode_for_training(corpus.train, merges.encoders(epoch)).examples;
  };
  return augmentation;
}

}  // namespace ablate::run
