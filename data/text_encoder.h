#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus.h"
#include "tokenizer/bpe_sampler.h"
#include "tokenizer/tokenizer.h"

namespace ablate::data {

/// The classes of a model with a label head, numbered from 0. Names are not tokenized: any
/// non-empty text is a name.
class Labels {
 public:
  /// The classes among the targets of `examples`, in the order of their bytes.
  explicit Labels(std::span<const Example> examples);
  /// Reads the output of to_text(), also with CRLF. Throws DataError if a name is empty or
  /// repeated.
  static Labels from_text(std::string_view text);

  /// The names, one a line.
  std::string to_text() const;
  int64_t count() const { return std::ssize(names_); }
  /// REQUIRES: 0 <= number < count().
  const std::string& name(int64_t number) const { return names_[static_cast<size_t>(number)]; }
  /// Whether the other ones have the same names, perhaps in another order.
  bool same_names(const Labels& other) const;
  /// Throws DataError if no class has that name.
  int32_t number(std::string_view name) const;

  bool operator==(const Labels& other) const = default;

 private:
  Labels() = default;
  void add(std::string name);

  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> numbers_;
};

/// One tokenizer per side; the same model if it is joint.
struct Tokenizers {
  tokenizer::Tokenizer source, target;
  std::optional<Labels> labels =
      {};  // the classes of a label head; both sides then have the text's tokenizer

  /// The number of possible predictions at a position.
  int64_t outputs() const { return labels ? labels->count() : target.vocabulary_size(); }
};

/// Trains a joint tokenizer on both sides of `train`, or one for each side. Throws TokenizerError.
Tokenizers train_tokenizers(const tokenizer::TokenizerOptions& options,
                            std::span<const Example> train);

/// Trains a tokenizer on the sources of `train`, whose targets are classes. Throws TokenizerError.
Tokenizers train_tokenizers_of_labelled(const tokenizer::TokenizerOptions& options,
                                        std::span<const Example> train);

/// The ids of one side of the example with this index.
using TextEncoder = std::function<std::vector<int32_t>(size_t index, std::string_view text)>;

/// One for each side.
struct TextEncoders {
  TextEncoder source, target;
  std::optional<tokenizer::Framing> framing = {};  // Tokenizer::framing() of the source
};

/// Functions from a text to its ids or to the number of its class; an unknown class throws
/// DataError. REQUIRES: the tokenizers outlive it.
TextEncoders encoders_of(const Tokenizers& tokenizers);

/// BPE-dropout (Provilkov et al. 2020): merges of training text are left out at random, anew in
/// every epoch, as a function of seed, epoch, side and index.
class DroppedMerges {
 public:
  struct Options {
    double share;  // of the merges, in [0, 1)
    uint64_t seed;
  };
  /// Classes have no merges and keep their numbers. Throws TokenizerError if the tokenizer of a
  /// side of text has no merges.
  DroppedMerges(const Tokenizers& tokenizers, Options options);

  /// REQUIRES: this outlives the encoders.
  TextEncoders encoders(int64_t epoch) const;

 private:
  TextEncoder side(const tokenizer::BpeSampler& sampler, const std::string& purpose) const;

  Options options_;
  Tokenizers tokenizers_;
  tokenizer::BpeSampler source_;
  std::optional<tokenizer::BpeSampler> target_;
};

}  // namespace ablate::data
