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
  auto vectors = read_vectors(experiment, tokenizers, folder);
  auto train = format.encode_for_training(corpus.train, tokenizers);
  auto validation = format.encode(corpus.validation, tokenizers);
  return {.corpus = std::move(corpus),
          .format = format,
          .tokenizers = std::move(tokenizers),
          .vectors = std::move(vectors),
          .train = std::move(train),
          .validation = std::move(validation)};
}

}  // namespace ablate::run
