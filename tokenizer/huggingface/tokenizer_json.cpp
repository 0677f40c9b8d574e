#include "tokenizer/huggingface/tokenizer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "tokenizer/huggingface/added_tokens.h"
#include "tokenizer/huggingface/bpe.h"
#include "tokenizer/huggingface/decoder.h"
#include "tokenizer/huggingface/normalizer.h"
#include "tokenizer/huggingface/post_processor.h"
#include "tokenizer/huggingface/pre_tokenizer.h"
#include "tokenizer/huggingface/unigram.h"
#include "tokenizer/huggingface/word_cache.h"
#include "tokenizer/huggingface/word_piece.h"
#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

using Model = std::variant<Bpe, WordPiece, WordLevel, Unigram>;

constexpr size_t kLongestText = size_t{256} << 20U;

/// The kind of a model; older files do not name it.
std::string model_type(const Node& node) {
  if (node.find("type")) return node.type();
  if (node.find("merges")) return "BPE";
  if (node.find("continuing_subword_prefix")) return "WordPiece";
  return node.at("vocab").is_list() ? "Unigram" : "WordLevel";
}

Model read_model(const Node& node) {
  const auto type = model_type(node);
  if (type == "BPE") return Model(std::in_place_type<Bpe>, node);
  if (type == "WordPiece") return Model(std::in_place_type<WordPiece>, node);
  if (type == "WordLevel") return Model(std::in_place_type<WordLevel>, node);
  if (type == "Unigram") return Model(std::in_place_type<Unigram>, node);
  node.refuse("is the model '" + type + "', which is not supported");
}

template <class Part>
Part read_part(const Node& root, const char* key) {
  const auto found = root.find(key);
  return found ? Part(*found) : Part();
}

const Node& checked(const Node& root) {
  root.allow({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
              "post_processor", "decoder", "model"});
  if (const auto version = root.find("version"); version && version->text() != "1.0")
    version->refuse("is '" + version->text() + "' instead of '1.0'");
  return root;
}

}  // namespace

struct TokenizerJson::Parts {
  Model model;
  Normalizer normalizer;
  AddedTokens added;
  PreTokenizer pre_tokenizer;
  PostProcessor post_processor;
  Decoder decoder;
  mutable WordCaches caches;

  Parts(const Node& root, const std::vector<int32_t>& hidden)
      : model(read_model(root.at("model"))),
        normalizer(read_part<Normalizer>(root, "normalizer")),
        added(root.find("added_tokens"), vocabulary(), normalizer, hidden),
        pre_tokenizer(read_part<PreTokenizer>(root, "pre_tokenizer")),
        post_processor(read_part<PostProcessor>(root, "post_processor")),
        decoder(read_part<Decoder>(root, "decoder")) {}

  /// The pieces that the model reads, and the added tokens between them.
  Pieces pieces_of(std::string_view text) const {
    if (text.size() > kLongestText)
      throw TokenizerError("a text of more than 256 MiB cannot be encoded at once");
    std::string line;
    if (valid_utf8(text))
      line = text;
    else
      for (const auto point : code_points(text)) append_utf8(line, point);
    auto pieces = added.divide(line, normalizer);
    pre_tokenizer.divide(pieces);
    return pieces;
  }

  const Vocabulary& vocabulary() const {
    return std::visit([](const auto& one) -> const Vocabulary& { return one.vocabulary(); }, model);
  }
};

TokenizerJson::TokenizerJson(std::string_view json, const std::vector<int32_t>& hidden) {
  const auto document = read_document(json);
  parts_ = std::make_shared<const Parts>(checked(Node(document, "")), hidden);
}

std::vector<int32_t> TokenizerJson::encode(std::string_view text) const {
  const auto pieces = parts_->pieces_of(text);
  std::vector<int32_t> ids;
  const auto write = [&](const auto& model, WordCache& cache) {
    for (const auto& piece : pieces.list) {
      if (piece.id != kText)
        ids.push_back(piece.id);
      else
        cache.write(
            text_of(pieces, piece), ids,
            [&](std::string_view word, std::vector<int32_t>& out) { model.encode(word, out); });
    }
  };
  parts_->caches.with_one([&](WordCache& cache) {
    std::visit([&](const auto& model) { write(model, cache); }, parts_->model);
  });
  return ids;
}

std::vector<TokenizerJson::Token> TokenizerJson::tokens(std::string_view text) const {
  const auto pieces = parts_->pieces_of(text);
  std::vector<Token> tokens;
  const auto write = [&](const auto& model, std::string_view word) {
    std::vector<int32_t> ids;
    Hidden hidden;
    model.encode(word, ids, &hidden);
    auto next = hidden.unknown.begin();
    for (const auto id : ids) {
      tokens.push_back({id});
      if (id == model.unknown_id() && next != hidden.unknown.end())
        tokens.back().hidden = std::move(*next++);
    }
    if (!hidden.left_out.empty()) tokens.push_back({-1, {{hidden.left_out, hidden.left_out}}});
  };
  for (const auto& piece : pieces.list) {
    if (piece.id != kText)
      tokens.push_back({piece.id});
    else
      std::visit([&](const auto& model) { write(model, text_of(pieces, piece)); }, parts_->model);
  }
  return tokens;
}

std::vector<int32_t> TokenizerJson::framed(const std::vector<int32_t>& ids) const {
  return parts_->post_processor.frame(ids);
}

std::string TokenizerJson::decode(std::span<const int32_t> ids, bool specials) const {
  std::vector<Token> tokens;
  for (const auto id : ids) tokens.push_back({id});
  return decode(tokens, specials);
}

// `tokenizers` knows a special token by what it decodes to, so one that the normalizer changes
// stays.
std::string TokenizerJson::decode(std::span<const Token> tokens, bool specials) const {
  std::vector<std::string> texts;
  const auto left_out = [&](const std::string& text) {
    const auto* const known = parts_->added.find(text);
    return !specials && known != nullptr && known->special;
  };
  for (const auto& [id, hidden] : tokens) {
    if (hidden) {
      texts.push_back(hidden->written);
    } else if (const auto* const added = parts_->added.find(id)) {
      const auto& text = added->normalized ? added->normal : added->content;
      if (!left_out(text)) texts.push_back(text);
    } else if (const auto* const known = parts_->vocabulary().token(id)) {
      texts.push_back(*known);
    }
  }
  return parts_->decoder.decode(std::move(texts));
}

int64_t TokenizerJson::vocabulary_size() const {
  auto end = parts_->vocabulary().end();
  for (const auto& token : parts_->added.list()) end = std::max(end, int64_t{token.id} + 1);
  return end;
}

std::optional<std::string> TokenizerJson::token(int32_t id) const {
  if (const auto* const added = parts_->added.find(id)) return added->content;
  const auto* const token = parts_->vocabulary().token(id);
  return token == nullptr ? std::nullopt : std::optional(*token);
}

std::string TokenizerJson::spelling(const Token& token) const {
  if (token.hidden) return parts_->decoder.spelling(token.hidden->text);
  const auto known = this->token(token.id).value_or("");
  return parts_->added.find(token.id) == nullptr ? parts_->decoder.spelling(known) : known;
}

std::string TokenizerJson::bytes(const std::string& written) const {
  return parts_->decoder.bytes(written);
}

std::optional<int32_t> TokenizerJson::unknown_id() const {
  return std::visit([](const auto& model) { return model.unknown_id(); }, parts_->model);
}

}  // namespace ablate::tokenizer::huggingface
