#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sequence_format.h"
#include "models/inference/inference_model.h"
#include "models/inference/search_options.h"

namespace ablate::training {

/// A model with the tokenizers of its text.
struct Translator {
  models::InferenceModel model;
  data::Tokenizers tokenizers;
  data::SequenceFormat format;
};

struct Translation {
  std::string text;
  double score = 0;            // log p / tokens ^ length penalty
  double log_probability = 0;  // log p, the end token included
  bool ended = true;           // by the end token, not at the greatest length
  /// The end of a too long prompt, the only part that was read.
  std::optional<std::string> read;
};

/// Lines to translate.
struct TranslationTask {
  std::span<const std::string> lines;
  std::span<const std::string> prefixes = {};  // that each output begins with; or empty
  int64_t first_line = 0;                      // number of the first, which seeds sampling
  int64_t n_best = 1;                          // outputs wanted of a line
  int64_t jobs = 1;                            // batches worked on at once, a thread each
  bool one_line = true;  // an output is one line; else, of running text, it ends at max_length
  models::SearchCount* count = nullptr;  // to add to; null: nobody counts
};

/// The best `n_best` targets found for every line, best first, in the order of the lines; a blank
/// line gives one empty text. Line breaks within an output become spaces. Several translators are
/// an ensemble and must have the same tokenizers. A model with a label head gives the likeliest
/// class of the line and its log-probability; several vote by their mean probability, and there are
/// no prefixes. Throws TokenizerError if tokenizers differ, and LengthError if a line or its
/// longest possible output exceeds a model's positions.
std::vector<std::vector<Translation>> translate_all(std::span<const Translator> translators,
                                                    const TranslationTask& task,
                                                    const models::SearchOptions& options);

/// The best target of one translator for every line; `count` may be null.
std::vector<Translation> translate(const Translator& translator, std::span<const std::string> lines,
                                   const models::SearchOptions& options,
                                   models::SearchCount* count = nullptr);

/// The index of the candidate of a line that is most similar to all of them, by the highest mean
/// sentence chrF (minimum Bayes risk, Kumar & Byrne 2004).
size_t least_risk(std::span<const Translation> candidates);

}  // namespace ablate::training
