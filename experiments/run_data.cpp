#include "experiments/run_data.h"

#include "experiments/evaluate.h"
#include "experiments/run_folder.h"

namespace ablate::experiments {
namespace {

data::Tokenizers tokenizers_of(const Experiment& experiment, std::span<const data::Example> train,
                               const std::optional<std::filesystem::path>& start) {
  if (!std::holds_alternative<data::Labelled>(experiment.data))
    return start ? load_tokenizers(*start) : data::train_tokenizers(experiment.tokenizer, train);
  auto label = data::train_label_tokenizer(train);
  if (start) return {load_tokenizers(*start).source, std::move(label)};
  std::vector<std::string> texts;
  for (const auto& example : train) texts.push_back(example.source);
  return {tokenizer::Tokenizer::train(experiment.tokenizer, texts), std::move(label)};
}

}  // namespace

RunData read_run_data(const Experiment& experiment, const std::filesystem::path& folder,
                      const std::optional<std::filesystem::path>& start) {
  auto corpus = data::load(experiment.data, folder, kDataSeed);
  auto tokenizers = tokenizers_of(experiment, corpus.train, start);
  auto vectors = read_vectors(experiment, tokenizers, folder);
  auto train = encode_for(experiment, tokenizers, corpus.train);
  auto validation = encode_for(experiment, tokenizers, corpus.validation);
  return {std::move(corpus), std::move(tokenizers), std::move(vectors), std::move(train),
          std::move(validation)};
}

}  // namespace ablate::experiments
