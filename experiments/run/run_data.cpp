#include "experiments/run/run_data.h"

#include "experiments/run/load_run.h"

namespace ablate::run {

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
  return {.corpus = std::move(corpus),
          .format = format,
          .tokenizers = std::move(tokenizers),
          .vectors = std::move(vectors),
          .train = std::move(train),
          .validation = std::move(validation),
          .token_dropout = experiment.tokenizer.dropout};
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
