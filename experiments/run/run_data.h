#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/sequence_format.h"
#include "experiments/config/schema/experiment.h"
#include "experiments/records/folders.h"
#include "experiments/run/embedding_vectors.h"

namespace ablate::run {

/// Generated data is the same for every run of a study; runs differ in weights, order and dropout.
inline constexpr uint64_t kDataSeed = 1;

/// Examples of which a side was cut.
struct Cuts {
  int64_t sources = 0, targets = 0;
};

/// The training set as its model reads it.
struct TrainingText {
  int64_t tokens = 0;   // of the targets, in one reading
  int64_t longest = 0;  // of a side; of running text a block
};

/// The data that a run is trained and tested on.
struct RunData {
  data::Corpus corpus;
  data::SequenceFormat format;
  data::Tokenizers tokenizers;
  std::vector<EmbeddingVectors> vectors;
  data::EncodedSet train;  // for BatchStream, with `augmentation`
  data::EncodedSet validation;
  double token_dropout = 0;  // share of the merges that training text leaves out

  std::optional<data::Masking> masking() const { return format.masking(tokenizers); }
  /// The number of sides of the training set beyond the limit, in the first epoch if augmentation
  /// changes every epoch.
  Cuts cuts(uint64_t seed) const;
  TrainingText training_text() const;
  /// The augmentation of `train` in training with this seed. REQUIRES: this outlives it and is not
  /// moved.
  data::Augmentation augmentation(uint64_t seed) const;
};

/// The examples that the finished run in `folder` was trained and tested on; relative paths start
/// at `data` or, if that is empty, at the folder of the training. Throws DataError if they differ
/// from those that the run recorded.
data::Corpus read_corpus_of(const records::RunFolder& folder, const config::Experiment& experiment,
                            const std::string& data);

/// Reads and encodes the data, with the tokenizers of the run in the folder `start` if there is
/// one, else with new ones. Relative paths start at `folder`. Throws DataError and TokenizerError,
/// and LengthError if the validation and test sets or their longest possible outputs exceed the
/// model's positions.
RunData read_run_data(const config::Experiment& experiment, const std::filesystem::path& folder,
                      const std::optional<std::filesystem::path>& start);

/// The tokenizers that such a run has. Relative paths start at `folder`. Throws as read_run_data(),
/// but for lengths.
data::Tokenizers read_tokenizers(const config::Experiment& experiment,
                                 const std::filesystem::path& folder);

/// Throws LengthError if a test set or its longest possible outputs exceed the model's positions.
void check_lengths(const config::Experiment& experiment, const data::SequenceFormat& format,
                   const data::Tokenizers& tokenizers, const std::vector<data::TestSet>& tests);
/// A sentence for each shortfall against the configuration or the needs of training: tokens of a
/// vocabulary, examples of a generated set, or too few for more than one batch.
std::vector<std::string> shortfalls(const config::Experiment& experiment, const RunData& data);

}  // namespace ablate::run
