#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/text_encoder.h"
#include "experiments/config/schema/experiment.h"
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

/// The vectors of the files that `experiment` names. A token gets the vector of its text or, if it
/// begins a word, of that word. Throws DataError if a file cannot be used or has no token at all.
std::vector<EmbeddingVectors> read_vectors(const config::Experiment& experiment,
                                           const data::Tokenizers& tokenizers,
                                           const std::filesystem::path& data_folder);

/// Puts the vectors into the model's embeddings, scaled by one factor to the root mean square of
/// the rows that they replace.
void set_vectors(models::TransformerImpl& model, const std::vector<EmbeddingVectors>& vectors);

/// Their record in environment.json.
nlohmann::json to_json(const std::vector<EmbeddingVectors>& vectors);

}  // namespace ablate::run
