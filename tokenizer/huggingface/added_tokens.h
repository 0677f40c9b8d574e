#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/huggingface/node.h"
#include "tokenizer/huggingface/normalizer.h"
#include "tokenizer/huggingface/pre_tokenizer.h"
#include "tokenizer/huggingface/trie.h"
#include "tokenizer/huggingface/vocabulary.h"

namespace ablate::tokenizer::huggingface {

struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool single_word = false, left_strip = false, right_strip = false, normalized = true,
       special = false;
  bool hidden = false;  // text cannot spell it
  std::string normal;   // the content after the normalizer, where it is normalized
};

/// Tokens that are found in a text before the model sees it.
class AddedTokens {
 public:
  /// Throws TokenizerError unless every token has the id that the model's vocabulary gives it, or,
  /// for one that it lacks, the next behind all others.
  AddedTokens(const std::optional<Node>& node, const Vocabulary& model,
              const Normalizer& normalizer, const std::vector<int32_t>& hidden);

  /// The pieces of a line: tokens that are sought in it as it is, then, in the rest, which
  /// `normalizer` has changed, the others. REQUIRES: valid UTF-8.
  Pieces divide(const std::string& line, const Normalizer& normalizer) const;

  const std::vector<AddedToken>& list() const { return tokens_; }
  /// Null if none has it.
  const AddedToken* find(int32_t id) const;
  const AddedToken* find(std::string_view content) const;

 private:
  /// Finds the leftmost and there the longest of some tokens.
  class Search {
   public:
    Search(const std::vector<AddedToken>& tokens, bool normalized);
    /// Appends the pieces of text.bytes from `begin` on, which stand at that place of the result.
    void divide(std::string_view text, const std::vector<AddedToken>& tokens,
                std::vector<Piece>& pieces) const;

   private:
    std::vector<bool> first_;  // bytes with which a token begins
    Trie trie_;                // of indices into the tokens
  };

  static std::vector<AddedToken> read(const std::optional<Node>& node, const Vocabulary& model,
                                      const Normalizer& normalizer);

  std::vector<AddedToken> tokens_;
  std::unordered_map<int32_t, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_content_;
  Search raw_, normal_;
};

}  // namespace ablate::tokenizer::huggingface
