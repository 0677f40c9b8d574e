#include "experiments/run/embedding_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "data/word_vectors.h"
#include "models/libtorch.h"
#include "tokenizer/special_tokens.h"

namespace ablate::run {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";  // how SentencePiece writes a space

/// The words whose vector a token may take, best first.
std::vector<std::string> words_of_token(const std::string& token) {
  std::vector<std::string> words{token};
  if (token.starts_with(kSpace) && token.size() > kSpace.size())
    words.push_back(token.substr(kSpace.size()));
  return words;
}

EmbeddingVectors read_side(const std::string& side, const tokenizer::Tokenizer& tokenizer,
                           const std::filesystem::path& file, int64_t width) {
  std::vector<std::vector<std::string>> spellings;
  std::unordered_set<std::string> wanted;
  const auto size = static_cast<int32_t>(tokenizer.vocabulary_size());
  for (int32_t id = tokenizer::kUnk + 1; id < size; ++id) {
    const auto token = tokenizer.token(id);
    spellings.push_back(token == tokenizer::kMaskToken ? std::vector<std::string>()
                                                       : words_of_token(token));
    wanted.insert(spellings.back().begin(), spellings.back().end());
  }
  const auto vectors = data::read_word_vectors(file, wanted, width);
  const auto words =
      std::ranges::count_if(spellings, [](const auto& of_token) { return !of_token.empty(); });
  EmbeddingVectors result{side, file.string(), words, {}, {}};
  for (size_t i = 0; i < spellings.size(); ++i)
    for (const auto& word : spellings[i]) {
      const auto found = vectors.find(word);
      if (found == vectors.end()) continue;
      result.ids.push_back(tokenizer::kUnk + 1 + static_cast<int64_t>(i));
      result.numbers.insert(result.numbers.end(), found->second.begin(), found->second.end());
      break;
    }
  if (result.ids.empty())
    throw data::DataError(file.string() + ": has a vector for none of the " +
                          std::to_string(words) + " tokens of the " + side +
                          " vocabulary; is it of the same language?");
  return result;
}

}  // namespace

std::string EmbeddingVectors::coverage() const {
  return fmt::format(
      "{} embedding: vectors for {} of {} tokens ({:.1f} %) from {}", side, ids.size(), vocabulary,
      100.0 * static_cast<double>(ids.size()) / static_cast<double>(vocabulary), file);
}

std::vector<EmbeddingVectors> read_vectors(const config::Experiment& experiment,
                                           const data::Tokenizers& tokenizers,
                                           const std::filesystem::path& data_folder) {
  const auto& options = experiment.training.pretrained_embeddings;
  const int64_t width = experiment.model.d_model;
  std::vector<EmbeddingVectors> vectors;
  if (options.source)
    vectors.push_back(read_side("source", tokenizers.source, data_folder / *options.source, width));
  if (options.target)
    vectors.push_back(read_side("target", tokenizers.target, data_folder / *options.target, width));
  return vectors;
}

void set_vectors(models::TransformerImpl& model, const std::vector<EmbeddingVectors>& vectors) {
  torch::NoGradGuard no_grad;
  for (const auto& given : vectors) {
    const auto table = given.side == "source" ? model.source_embedding() : model.target_embedding();
    const auto ids = torch::tensor(given.ids, torch::kLong);
    const auto values = torch::tensor(given.numbers).view({ids.size(0), table.size(1)});
    const auto scale = table.index_select(0, ids).norm() / values.norm().clamp_min(1e-12);
    table.index_copy_(0, ids, values * scale);
  }
}

nlohmann::json to_json(const std::vector<EmbeddingVectors>& vectors) {
  auto list = nlohmann::json::array();
  for (const auto& given : vectors)
    list.push_back({{"side", given.side},
                    {"file", given.file},
                    {"covered", given.ids.size()},
                    {"vocabulary", given.vocabulary}});
  return list;
}

}  // namespace ablate::run
