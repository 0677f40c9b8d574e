#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/augmentation.h"
#include "data/batch.h"
#include "data/data_options.h"
#include "data/text_encoder.h"

namespace ablate::data {

/// The stacks of a model, as far as the form of its sequences depends on them.
struct ModelParts {
  bool encoder = true, decoder = true;
};

/// The form in which one kind of model reads and writes one kind of data: the ids of a text, the
/// start and end of an output, the masking. Decided once, from the data and the model; training,
/// evaluation, search and export all use it.
class SequenceFormat {
 public:
  /// `max_length` limits each side of a pair in training, its end token included, and a prompt that
  /// running text goes on from. REQUIRES: a model that can learn from such data
  /// (Experiment::rules).
  SequenceFormat(const DataOptions& data, ModelParts model, int64_t max_length)
      : model_(model),
        labels_(compared_of(data) == Compared::label),
        pairs_(reads_pairs(data)),
        max_length_(max_length),
        chunking_(chunking_of(data, model)),
        tokens_(std::holds_alternative<Tokens>(data) ? std::optional(std::get<Tokens>(data))
                                                     : std::nullopt) {
    if (const auto* text = std::get_if<Language>(&data))
      masking_ = {.share = text->masked, .diffusion = text->diffusion};
  }

  /// Most tokens of a prompt that running text continues; of masks half of their sequence is one.
  int64_t longest_prompt() const {
    return fills_masks() ? std::min(max_length_ - 1, filled_length() / 2) : max_length_ - 1;
  }
  /// Most tokens of a sequence in a stack, if outputs have up to `output` tokens and sources are no
  /// longer than in training.
  int64_t longest_sequence(int64_t output) const {
    if (chunking_) return chunking_->block + 1;
    const int64_t side = std::max(max_length_, output) + 1;
    return model_.encoder ? side : max_length_ + side;
  }

  /// The tokenizers of a run that learns from `train`: those of the run that it starts from, or new
  /// ones. Of labelled data the classes are those of `train`, in the order of that run if it has
  /// the same. Throws TokenizerError.
  Tokenizers tokenizers(const tokenizer::TokenizerOptions& options, std::span<const Example> train,
                        const std::optional<Tokenizers>& start) const;

  /// The ids of a set for training; sides beyond the limit are cut and counted. Running text is one
  /// whole example, or stays in its file; `augmentation` cuts it into blocks.
  EncodedSet encode_for_training(std::span<const Example> examples,
                                 const TextEncoders& encoders) const;
  EncodedSet encode_for_training(std::span<const Example> examples,
                                 const Tokenizers& tokenizers) const;
  /// The ids of a set for teacher-forced scores: all of every example, even if training cuts it.
  /// Running text is divided into blocks, which masked diffusion scores several times with other
  /// tokens hidden; of a file of tokens, as many are read as
  /// `evaluated_tokens` says.
  EncodedSet encode(std::span<const Example> examples, const Tokenizers& tokenizers) const;
  /// The same of every example by itself, one for one. Of running text the source is the line
  /// before the target.
  EncodedSet encode_each(std::span<const Example> examples, const Tokenizers& tokenizers) const;
  /// The input of a text before the output is written: all of it. In running text it is a prompt,
  /// in which all lines except the last end with end tokens, or with `mask_documents` only the end
  /// token before the last line and that line; only the end of a prompt beyond
  /// `longest_prompt` is read. nullopt for a line with an empty output: one that looks blank, or
  /// that has no token after the tokenizer's normalisation.
  std::optional<tokenizer::Encoded> encode_source(std::string_view text,
                                                  const Tokenizers& tokenizers) const;
  /// The text of an output; end tokens within it are the ends of lines. Of a class its name.
  std::string decode(std::span<const int32_t> ids, const Tokenizers& tokenizers) const;
  /// The text of an output behind `text`, whose ids are `source`. In running text it begins with
  /// the space that its first token stands for.
  std::string continuation(std::string_view text, std::span<const int32_t> source,
                           std::span<const int32_t> ids, const Tokenizers& tokenizers) const;

  /// The id that a decoder reads before its first output, in training and in search. A decoder-only
  /// model reads it before the prompt; it is absent if the tokenizer puts no start token there.
  std::optional<int32_t> start_token(const Tokenizers& tokenizers) const;
  /// The id that closes an output; nullopt if running text continues past line ends.
  std::optional<int32_t> end_token(bool one_line) const;
  /// Ids besides padding and the start token that no text has: if ids are written as numbers,
  /// that of unknown text, and the own id of the number that is the end token.
  std::vector<int64_t> unwritten() const;
  /// Whether outputs continue the text that was read.
  bool continues_text() const { return chunking_ && model_.decoder; }
  /// Whether outputs are made of masks, and tokens of a sequence in which they are, its start
  /// token included.
  bool fills_masks() const { return chunking_ && !model_.decoder && masking_.diffusion; }
  int64_t filled_length() const { return chunking_->block + 1; }
  /// Whether it reads a text before an output, and ends an output, as `other` does with the same
  /// tokenizers.
  bool reads_alike(const SequenceFormat& other) const;
  Compared compared() const;
  /// The masking of every batch, if there is one. Throws TokenizerError without a mask token.
  std::optional<Masking> masking(const Tokenizers& tokenizers) const;
  /// The same in training, and how its running text is cut into blocks; `text` if it stays in its
  /// file.
  Augmentation augmentation(const Tokenizers& tokenizers,
                            const std::optional<FileText>& text = {}) const;

 private:
  static std::optional<Chunking> chunking_of(const DataOptions& data, ModelParts model) {
    return std::visit(
        [&]<class Held>(const Held& held) -> std::optional<Chunking> {
          if constexpr (Held::running)
            return Chunking{.block = held.block, .masked = !model.decoder};
          else
            return std::nullopt;
        },
        data);
  }
  EncodedSet encode_each(std::span<const Example> examples, const TextEncoders& encoders,
                         int64_t max_length) const;
  /// The ids of a source: of two texts, with an end token behind the first.
  std::vector<int32_t> source_ids(std::string_view text, const TextEncoder& encoder,
                                  size_t index) const;
  /// The ids of a text, in which the end token may be written as its number.
  std::vector<int32_t> with_ends(std::vector<int32_t> ids) const;
  /// The special tokens around a source, and whether a start token precedes the sequence of a
  /// decoder. `own` are the tokens that the tokenizer puts around a text, if its file says them.
  tokenizer::Framing source_framing(const std::optional<tokenizer::Framing>& own) const;
  bool is_started(const std::optional<tokenizer::Framing>& own) const;
  Chunking chunking_of(const Tokenizers& tokenizers) const;
  /// The text of a file of tokens, as the tokenizer numbers them.
  FileText text_of(const Example& example, const Tokenizers& tokenizers) const;
  tokenizer::Encoded prompt(std::string_view text, const tokenizer::Tokenizer& tokenizer) const;

  ModelParts model_;  // a decoder-only model reads its source as the prompt of its target
  bool labels_;       // the target is the class of the source
  bool pairs_;        // a source is two texts, with a tab between them
  int64_t max_length_;
  std::optional<Chunking> chunking_;  // of running text
  std::optional<Tokens> tokens_;      // in files of them
  Masking masking_;                   // of its blocks, if they are masked
};

}  // namespace ablate::data
