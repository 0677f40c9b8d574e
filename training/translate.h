#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/sequence_format.h"
#include "models/inference/search_options.h"
#include "models/transformer.h"

namespace ablate::training {

/// A trained model with what turns text into its ids.
struct Translator {
  models::Transformer model;
  data::Tokenizers tokenizers;
  data::SequenceFormat format;
};

struct Translation {
  std::string text;
  double score = 0;            // log p / pieces ^ length penalty
  double log_probability = 0;  // log p, the end mark included
  bool cut = false;            // the source was longer than the format's limit
};

/// Lines to translate.
struct TranslationTask {
  std::span<const std::string> lines;
  std::span<const std::string> prefixes = {};  // what each output begins with; or empty
  int64_t first_line = 0;                      // number of the first, for what is drawn at random
  int64_t n_best = 1;                          // outputs wanted of a line
  int64_t jobs = 1;                            // batches worked on at once, a thread each
  bool one_line = true;  // an output ends with its line, else, of running text, at max_length
};

/// The likeliest class of every line with its log-probability. REQUIRES: a model with a label head.
std::vector<Translation> classify(Translator& translator, std::span<const std::string> lines,
                                  int64_t rows);

/// The best `n_best` targets found for every line, best first, in the order of the lines; a blank
/// line gives one empty text. Several translators, which have the same tokenizers, vote. A model
/// with a label head gives the class of the line. Throws TokenizerError where tokenizers differ.
std::vector<std::vector<Translation>> translate_all(std::span<Translator> translators,
                                                    const TranslationTask& task,
                                                    const models::SearchOptions& options);

/// The best target of one translator for every line.
std::vector<Translation> translate(Translator& translator, std::span<const std::string> lines,
                                   const models::SearchOptions& options);

/// Of a line's candidates the one that is most like all of them: the highest mean sentence chrF
/// (minimum Bayes risk, Kumar & Byrne 2004). // index
size_t least_risk(std::span<const Translation> candidates);

/// Log-probability of every target given its source, the end mark included, in nats.
std::vector<double> score_targets(Translator& translator, std::span<const data::Example> examples,
                                  int64_t batch);

}  // namespace ablate::training
