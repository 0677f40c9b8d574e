#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::tokenizer {

/// What a Tokenizer reads its file with. Ids are those of the file.
class TokenizerModel {
 public:
  TokenizerModel() = default;
  TokenizerModel(const TokenizerModel&) = delete;
  TokenizerModel& operator=(const TokenizerModel&) = delete;
  virtual ~TokenizerModel() = default;

  virtual int64_t size() const = 0;

  // As those of Tokenizer.
  virtual bool merges() const { return false; }
  virtual std::string normalized(std::string_view line) const = 0;
  virtual std::vector<int32_t> encode(std::string_view line) const = 0;
  virtual std::vector<std::string> tokens(std::string_view line) const = 0;
  virtual std::string left_out(std::string_view) const { return {}; }
  virtual std::string decode(const std::vector<int32_t>& ids) const = 0;
  virtual std::string token(int32_t id) const = 0;
  virtual float score(int32_t) const { return 0; }
};

/// The text with SentencePiece's sign for a space, U+2581, written as one.
std::string with_spaces(std::string text);

/// Throws TokenizerError with the reason if the bytes are not a usable SentencePiece model. Its
/// pieces have the ids of the `vocabulary`, or their places if that is empty.
std::unique_ptr<TokenizerModel> read_sentence_piece(
    std::string_view bytes, const std::map<std::string, int32_t>& vocabulary);

/// A tokenizer.json; text cannot spell the tokens with the ids that are `hidden`. Throws
/// TokenizerError with the reason if it is not usable.
std::unique_ptr<TokenizerModel> read_tokenizer_json(std::string_view json,
                                                    const std::vector<int32_t>& hidden);

}  // namespace ablate::tokenizer
