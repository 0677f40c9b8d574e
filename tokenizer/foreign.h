#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/id_map.h"

namespace ablate::tokenizer {

/// What a tokenizer's file of others does not say of itself. Ids are those of the model that it
/// belongs to.
struct ForeignFacts {
  SpecialIds specials;
  /// Tokens of the model, if they are more than the file has.
  std::optional<int64_t> size = {};
  /// The ids of the pieces of a SentencePiece model, if they are not their places in the file, as
  /// with Marian's vocab.json; pieces without one are unknown text.
  std::map<std::string, int32_t> vocabulary = {};
  /// None: the model's kind of sequence decides.
  std::optional<Framing> framing = {};
  /// Whether decoding takes spaces before punctuation away (clean_up_tokenization_spaces).
  bool cleans = false;
};

/// One text that keeps the facts and, unchanged, the file: a line as JSON before it.
std::string with_facts(const ForeignFacts& facts, std::string_view file);

struct ForeignFile {
  std::optional<ForeignFacts> facts;  // none: the file says all itself
  std::string_view file;              // part of the text it was read from
};

/// The inverse; a text without such a line is a file by itself. Throws TokenizerError if the line
/// is damaged.
ForeignFile divided(std::string_view bytes);

/// Whether it is a tokenizer.json; otherwise a SentencePiece model.
bool is_json(std::string_view file);

/// The ids of the special tokens that a tokenizer_config.json or special_tokens_map.json names, as
/// `ids` has them: the start is bos_token or else cls_token, the end eos_token or else sep_token.
/// Throws TokenizerError if the configuration is malformed or names a token without an id.
SpecialIds named_specials(std::string_view tokenizer_config,
                          const std::map<std::string, int32_t>& ids);

/// The unknown token of a tokenizer.json's model, if it has one.
/// Throws TokenizerError with the reason if the file is not usable.
std::optional<int32_t> unknown_in(std::string_view tokenizer_json);

/// Ids before and behind a text.
struct Surroundings {
  std::vector<int32_t> before, behind;
};

/// What the post-processor of a tokenizer.json puts around a text. Throws TokenizerError with the
/// reason if the file is not usable.
Surroundings surroundings_of(std::string_view tokenizer_json);

/// The ids of all tokens of a tokenizer.json or a SentencePiece model. Throws TokenizerError with
/// the reason if the file is not usable.
std::map<std::string, int32_t> token_ids(std::string_view file);

}  // namespace ablate::tokenizer
