#include <sentencepiece_processor.h>

#include <algorithm>
#include <new>

#include "tokenizer/piece_model.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/unicode.h"
#include "tokenizer/tokenizer_model.h"

namespace ablate::tokenizer {
namespace {

class SentencePiece : public TokenizerModel {
 public:
  SentencePiece(std::string_view bytes, const PieceModel& model)
      : merges_(model.kind == ModelType::bpe) {
    sentencepiece::util::Status status;
    try {
      status = processor_.LoadFromSerializedProto(with_unspellable_names(bytes, model));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw TokenizerError(std::string("not a usable tokenizer model: ") + error.what());
    }
    if (!status.ok()) throw TokenizerError("not a usable tokenizer model: " + status.ToString());
  }

  int64_t size() const override { return processor_.GetPieceSize(); }
  bool merges() const override { return merges_; }
  std::string normalized(std::string_view line) const override {
    return processor_.Normalize(line);
  }
  std::vector<int32_t> encode(std::string_view line) const override {
    return processor_.EncodeAsIds(line);
  }
  std::vector<std::string> tokens(std::string_view line) const override {
    return processor_.EncodeAsPieces(line);
  }
  std::string decode(const std::vector<int32_t>& ids) const override {
    return processor_.DecodeIds(ids);
  }
  std::string token(int32_t id) const override {
    const auto& name = processor_.IdToPiece(id);
    const bool special = processor_.IsControl(id) || processor_.IsUnknown(id);
    return special ? name.substr(1) : name;
  }
  float score(int32_t id) const override { return processor_.GetScore(id); }

 protected:
  const sentencepiece::SentencePieceProcessor& processor() const { return processor_; }

 private:
  sentencepiece::SentencePieceProcessor processor_;
  bool merges_;
};

/// Pieces whose ids are those of another list of names.
class RenumberedPieces : public SentencePiece {
 public:
  RenumberedPieces(std::string_view bytes, const PieceModel& model,
                   const std::map<std::string, int32_t>& vocabulary)
      : SentencePiece(bytes, model), ids_(vocabulary) {
    for (const auto& [name, id] : ids_) {
      if (id < 0 || static_cast<size_t>(id) >= ids_.size())
        throw TokenizerError("the vocabulary gives '" + name + "' the id " + std::to_string(id) +
                             ", and has " + std::to_string(ids_.size()) + " tokens");
      names_.resize(ids_.size());
      auto& known = names_[static_cast<size_t>(id)];
      if (!known.empty())
        throw TokenizerError("the vocabulary gives '" + known + "' and '" + name + "' the id " +
                             std::to_string(id));
      known = name;
    }
    const auto unknown = ids_.find(std::string(kUnkPiece));
    if (unknown == ids_.end()) throw TokenizerError("the vocabulary has no <unk>");
    unknown_ = unknown->second;
  }

  int64_t size() const override { return std::ssize(names_); }
  bool merges() const override { return false; }  // scores belong to places in the file
  /// A language at the beginning, as in ">>fra<< a << text", is one token.
  std::vector<std::string> tokens(std::string_view line) const override {
    const auto end = line.starts_with(">>") ? line.find("<<") : std::string_view::npos;
    if (end == std::string_view::npos || end < 3) return SentencePiece::tokens(line);
    auto found = SentencePiece::tokens(line.substr(end + 2));
    found.insert(found.begin(), std::string(line.substr(0, end + 2)));
    return found;
  }
  std::vector<int32_t> encode(std::string_view line) const override {
    std::vector<int32_t> ids;
    for (const auto& piece : tokens(line)) {
      const auto id = ids_.find(piece);
      ids.push_back(id == ids_.end() ? unknown_ : id->second);
    }
    return ids;
  }
  /// Pieces of the vocabulary that the file lacks, as those of the other language, come back as
  /// they are, with their signs for spaces. As Transformers' MarianTokenizer joins them.
  std::string decode(const std::vector<int32_t>& ids) const override {
    std::vector<std::string> pieces;
    for (const auto id : ids) pieces.push_back(token(id));
    const auto text = with_spaces(processor().DecodePieces(pieces));
    const auto begin = std::min(text.find_first_not_of(' '), text.size());
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  }
  std::string token(int32_t id) const override { return names_[static_cast<size_t>(id)]; }
  float score(int32_t) const override { return 0; }

 private:
  std::map<std::string, int32_t> ids_;
  std::vector<std::string> names_;
  int32_t unknown_ = 0;
};

}  // namespace

std::string with_spaces(std::string text) {
  replace_all(text, "\u2581", " ");
  return text;
}

std::unique_ptr<TokenizerModel> read_sentence_piece(
    std::string_view bytes, const std::map<std::string, int32_t>& vocabulary) {
  const auto model = read_piece_model(bytes);
  if (vocabulary.empty()) return std::make_unique<SentencePiece>(bytes, model);
  return std::make_unique<RenumberedPieces>(bytes, model, vocabulary);
}

}  // namespace ablate::tokenizer
