#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/tokenizers.h"
#include "experiments/config/experiment.h"
#include "models/transformer.h"

namespace ablate::run {

/// Vectors from a file for the tokens of one embedding.
struct EmbeddingVectors {
  std::string side;  // source or target
  std::string file;
  int64_t vocabulary;          // tokens of the vocabulary, special ones left out
  std::vector<int64_t> ids;    // of the tokens that have a vector
  std::vector<float> numbers;  // ids.size() rows of d_model

  /// "source embedding: vectors for 912 of 1000 tokens (91.2 %) from wiki.vec"
  std::string coverage() const;
};

/// The vectors that `experiment` asks for. A token has the vector of its own text or, where it
/// begins a word, of the word that it is. Throws DataError where a file cannot be used or knows no
/// token at all.
std::vector<EmbeddingVectors> read_vectors(const config::Experiment& experiment,
                                           const data::Tokenizers& tokenizers,
                                           const std::filesystem::path& data_folder);

/// Puts the vectors into the model's embeddings, all multiplied by the one number that gives them
/// the root mean square of the rows that they replace, and freezes those embeddings where `frozen`.
void set_vectors(models::TransformerImpl& model, const std::vector<EmbeddingVectors>& vectors,
                 bool frozen);

/// What environment.json records of them.
nlohmann::json to_json(const std::vector<EmbeddingVectors>& vectors);

}  // namespace ablate::run
