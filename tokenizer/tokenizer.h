#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/foreign.h"
#include "tokenizer/id_map.h"
#include "tokenizer/piece_model.h"
#include "tokenizer/tokenizer_options.h"

namespace ablate::tokenizer {

/// Ids of a line; `cut`: whether tokens beyond the limit were left out.
struct Encoded {
  std::vector<int32_t> ids;
  bool cut = false;
};

/// The first `limit` ids.
Encoded limited(std::vector<int32_t> ids, int64_t limit);

/// Text to ids and back, by a SentencePiece model (Kudo & Richardson 2018) or a tokenizer.json of
/// Hugging Face. Whatever ids the file has, ours are those of special_tokens.h, then the other
/// tokens; a model may have more than the file, which no text is written with. Copies share one
/// immutable model; encoding and decoding may run on many threads at once.
class Tokenizer {
 public:
  /// Learns a model from `lines`; the same lines give the same model. A vocabulary larger than the
  /// text supports becomes the largest possible. Throws TokenizerError if no model can be learned.
  static Tokenizer train(const TokenizerOptions& options, std::span<const std::string> lines);
  /// Both throw TokenizerError with the reason if the model is unusable (piece_model.h).
  /// `load` also takes a tokenizer.json beside a tokenizer_config.json, which names the special
  /// tokens.
  static Tokenizer load(const std::filesystem::path& file);
  static Tokenizer from_bytes(std::string model);
  /// A SentencePiece model or tokenizer.json of others. Throws TokenizerError with the place and
  /// the reason if the file is malformed, has a part that is not supported or does not have the
  /// ids, or if the model has fewer tokens than the file.
  static Tokenizer foreign(std::string_view file, const ForeignFacts& facts);

  /// What `load` reads: the file, of others behind a line with the facts.
  const std::string& bytes() const;
  /// The file alone.
  std::string_view file() const;
  /// What a file of others does not say of itself; none if it says all.
  const std::optional<ForeignFacts>& facts() const;
  /// What stands around a text; none if the model's kind of sequence decides.
  std::optional<Framing> framing() const;
  /// The ids of the file's special tokens.
  const SpecialIds& specials() const;
  std::string sha256() const;
  /// Which id of the file each of ours is.
  const IdMap& ids() const;

  /// Whether tokens come from merges that were learned one by one, as in bpe.
  bool merges() const;
  /// The line as its tokens spell it, with leading spaces written as U+2581.
  std::string normalized(std::string_view line) const;

  /// Ids without start and end tokens.
  std::vector<int32_t> encode(std::string_view line) const;
  /// The first `limit` ids.
  Encoded encode(std::string_view line, int64_t limit) const;
  std::vector<std::string> tokens(std::string_view line) const;
  /// The characters of the line that encoding drops, since the tokenizer has no unknown token.
  std::string left_out(std::string_view line) const;
  /// The text of `ids`; padding, start and end tokens and ids outside the vocabulary are left out.
  std::string decode(std::span<const int32_t> ids) const;
  int64_t vocabulary_size() const;
  /// The token with this id, its leading space written as U+2581. REQUIRES: an id of the
  /// vocabulary.
  std::string token(int32_t id) const;
  /// The score of a bpe's token: higher if it was learned earlier. REQUIRES: an id of the
  /// vocabulary.
  float score(int32_t id) const;

 private:
  struct Model;
  explicit Tokenizer(std::shared_ptr<const Model> model) : model_(std::move(model)) {}
  std::shared_ptr<const Model> model_;
};

/// The normalised text, in which the tokenizer's sign for a space is a space.
std::string normal_form(const Tokenizer& tokenizer, std::string_view text);

/// How faithfully texts survive encoding and decoding by a tokenizer.
struct Fidelity {
  int64_t unknown_tokens = 0;  // all that is left out counts as one
  int64_t hidden_bytes = 0;    // of the normalised text, behind the unknown tokens or left out
  bool altered = false;        // it is not restored exactly
  bool lost = false;           // and its normal form, too
};

Fidelity fidelity(const Tokenizer& tokenizer, std::string_view text);

}  // namespace ablate::tokenizer
