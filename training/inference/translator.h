#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sequence_format.h"
#include "models/inference/inference_model.h"
#include "models/inference/search_options.h"

namespace ablate::training {

/// A model with what turns text into its ids and back.
struct Translator {
  models::InferenceModel model;
  data::Tokenizers tokenizers;
  data::SequenceFormat format;
};

struct Translation {
  std::string text;
  double score = 0;            // log p / tokens ^ length penalty
  double log_probability = 0;  // log p, the end token included
  bool ended = true;           // by itself, and not at the greatest length
  /// Of a prompt that was too long its end, which alone was read.
  std::optional<std::string> read;
};

/// Lines to translate.
struct TranslationTask {
  std::span<const std::string> lines;
  std::span<const std::string> prefixes = {};  // what each output begins with; or empty
  int64_t first_line = 0;                      // number of the first, for what is drawn at random
  int64_t n_best = 1;                          // outputs wanted of a line
  int64_t jobs = 1;                            // batches worked on at once, a thread each
  bool one_line = true;  // an output is one line; else, of running text, it ends at max_length
};

/// The best `n_best` targets found for every line, best first, in the order of the lines; a blank
/// line gives one empty text. What would end a line within an output becomes a space. Several
/// translators, which have the same tokenizers, vote. A model with a label head gives the class of
/// the line. Throws TokenizerError where tokenizers differ, and LengthError where a model has no
/// positions for a line or for the longest output that it may have.
std::vector<std::vector<Translation>> translate_all(std::span<const Translator> translators,
                                                    const TranslationTask& task,
                                                    const models::SearchOptions& options);

/// The best target of one translator for every line.
std::vector<Translation> translate(const Translator& translator, std::span<const std::string> lines,
                                   const models::SearchOptions& options);

}  // namespace ablate::training
