#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/sequence_format.h"
#include "experiments/config/experiment.h"
#include "experiments/records/folders.h"
#include "experiments/run/embedding_vectors.h"

namespace ablate::run {

/// Generated data is the same for every run of a study; runs differ in weights, order and dropout.
inline constexpr uint64_t kDataSeed = 1;

/// Examples of which a side was cut.
struct Cuts {
  int64_t sources = 0, targets = 0;
};

/// What a run learns from and is tested on.
struct RunData {
  data::Corpus corpus;
  data::SequenceFormat format;
  data::Tokenizers tokenizers;
  std::vector<EmbeddingVectors> vectors;
  data::EncodedSet train;  // for BatchStream, with `augmentation`
  data::EncodedSet validation;
  double token_dropout = 0;  // share of the merges that training text leaves out

  std::optional<data::Masking> masking() const { return format.masking(tokenizers); }
  /// How many sides of the training set are longer than the limit: those of the first epoch, where
  /// every epoch writes it anew.
  Cuts cuts(uint64_t seed) const;
  /// What training with this seed does to `train`. REQUIRES: this outlives it and is not moved.
  data::Augmentation augmentation(uint64_t seed) const;
};

/// The examples that the finished run in `folder` was trained and tested on; relative paths start
/// at `data` or, where that is empty, where they did in training. Throws DataError where they
/// differ from those that the run recorded.
data::Corpus read_corpus_of(const records::RunFolder& folder, const config::Experiment& experiment,
                            const std::string& data);

/// Reads and encodes it, with the tokenizers of the run in the folder `start` where there is one,
/// else with new ones. Relative paths start at `folder`. Throws DataError and TokenizerError, and
/// LengthError where the model has no positions for all of the validation and test sets, and of the
/// longest outputs that these may have.
RunData read_run_data(const config::Experiment& experiment, const std::filesystem::path& folder,
                      const std::optional<std::filesystem::path>& start);

/// Throws LengthError where the model has no positions for all of a test set, or for the longest
/// outputs that it may have.
void check_lengths(const config::Experiment& experiment, const data::SequenceFormat& format,
                   const data::Tokenizers& tokenizers, const std::vector<data::TestSet>& tests);
/// What there is less of than the configuration asks for or training needs, a sentence each: tokens
/// of a vocabulary, examples of a generated set or for more than one batch.
std::vector<std::string> shortfalls(const config::Experiment& experiment, const RunData& data);

}  // namespace ablate::run
