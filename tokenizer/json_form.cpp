#include "tokenizer/json_form.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tokenizer/foreign.h"
#include "tokenizer/huggingface/normalizer.h"
#include "tokenizer/piece_model.h"
#include "tokenizer/text/digest.h"

namespace ablate::tokenizer {
namespace {

using nlohmann::json;

constexpr const char* kSpaceSign = "\u2581";
constexpr double kUnknownPenalty = 10;  // of SentencePiece's unigram

struct Parts : PieceModel {
  bool only_bytes = false;  // as byte-level BPE without merges
};

/// Bytes under their names in byte-level BPE, whose decoder replaces only those that are no text; a
/// ByteFallback replaces all that stand beside them.
void name_bytes(Parts& parts) {
  parts.only_bytes = true;
  parts.byte_fallback = false;
  for (auto& piece : parts.pieces)
    if (piece.type == PieceType::byte)
      piece.text = huggingface::byte_character(
          static_cast<unsigned char>(std::stoi(piece.text.substr(3, 2), nullptr, 16)));
}

Parts read_parts(std::string_view model) {
  Parts parts{read_piece_model(model)};
  if (parts.byte_fallback && !parts.dummy_prefix && !parts.tidy && !parts.escaped &&
      !std::ranges::count(parts.pieces, PieceType::normal, &PieceModel::Piece::type))
    name_bytes(parts);
  return parts;
}

void require_expressible(const Parts& parts) {
  if (parts.denormalizes) throw TokenizerError("a denormaliser has no form in tokenizer.json");
  if (parts.spaces_behind)
    throw TokenizerError("spaces behind words have no form in tokenizer.json");
  for (const auto& piece : parts.pieces)
    if (piece.type == PieceType::user_defined || piece.type == PieceType::unused)
      throw TokenizerError("the piece '" + piece.text +
                           "', which a user defined or put out of use, has no form in "
                           "tokenizer.json");
}

json replaced(const char* how, const char* pattern, const char* content) {
  return {{"type", "Replace"}, {"pattern", {{how, pattern}}}, {"content", content}};
}

json normalizer_of(const Parts& parts) {
  auto steps = json::array();
  if (!parts.table.empty())
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64(parts.table)}});
  if (parts.tidy) {
    steps.push_back(replaced("Regex", R"(\A +| +\z)", ""));
    steps.push_back(replaced("Regex", " {2,}", " "));
  }
  if (parts.dummy_prefix)
    steps.push_back({{"type", "Prepend"}, {"prepend", parts.escaped ? kSpaceSign : " "}});
  if (parts.escaped) steps.push_back(replaced("String", " ", kSpaceSign));
  if (steps.empty()) return nullptr;
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

json byte_level() {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", false},
          {"use_regex", false}};
}

/// Words by themselves, which is faster; none if a piece reaches beyond a word.
json pre_tokenizer_of(const Parts& parts) {
  if (parts.only_bytes) return byte_level();
  for (const auto& piece : parts.pieces)
    if (piece.text.find(kSpaceSign, 1) != std::string::npos) return nullptr;
  if (!parts.escaped) return nullptr;
  return {{"type", "Split"},
          {"pattern", {{"String", kSpaceSign}}},
          {"behavior", "MergedWithNext"},
          {"invert", false}};
}

json decoder_of(const Parts& parts) {
  if (parts.only_bytes) return byte_level();
  auto steps = json::array();
  if (parts.escaped) steps.push_back(replaced("String", kSpaceSign, " "));
  if (parts.byte_fallback) steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  if (parts.dummy_prefix)
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", steps}};
}

json vocabulary_of(const Parts& parts) {
  auto ids = json::object();
  for (size_t id = 0; id < parts.pieces.size(); ++id) ids[parts.pieces[id].text] = id;
  return ids;
}

size_t unknown_of(const Parts& parts) {
  size_t id = 0;
  while (parts.pieces[id].type != PieceType::unknown) ++id;
  return id;
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

/// Every pair of pieces that makes one, the best first.
json merges_of(const Parts& parts) {
  std::map<std::string_view, size_t> ids;
  for (size_t id = 0; id < parts.pieces.size(); ++id)
    if (parts.pieces[id].type == PieceType::normal) ids.emplace(parts.pieces[id].text, id);
  struct Merge {
    double score;
    size_t left, right;
  };
  std::vector<Merge> merges;
  for (const auto& [text, id] : ids) {
    const auto first = merges.size();
    for (size_t at = 1; at < text.size(); ++at) {
      if (!begins_character(text[at])) continue;
      const auto left = ids.find(text.substr(0, at)), right = ids.find(text.substr(at));
      if (left != ids.end() && right != ids.end())
        merges.push_back({parts.pieces[id].score, left->second, right->second});
    }
    std::sort(merges.begin() + static_cast<ptrdiff_t>(first), merges.end(),
              [](const Merge& a, const Merge& b) {
                return std::pair(a.left, a.right) < std::pair(b.left, b.right);
              });
  }
  std::ranges::stable_sort(merges, std::ranges::greater(), &Merge::score);
  auto pairs = json::array();
  for (const auto& merge : merges)
    pairs.push_back({parts.pieces[merge.left].text, parts.pieces[merge.right].text});
  return pairs;
}

json unigram_of(const Parts& parts) {
  auto vocabulary = json::array();
  double least = 0;
  for (const auto& piece : parts.pieces) least = std::min<double>(least, piece.score);
  for (const auto& piece : parts.pieces)
    vocabulary.push_back(
        {piece.text, piece.type == PieceType::unknown ? least - kUnknownPenalty : piece.score});
  return {{"type", "Unigram"},
          {"unk_id", unknown_of(parts)},
          {"vocab", vocabulary},
          {"byte_fallback", parts.byte_fallback}};
}

json model_of(const Parts& parts) {
  const auto& unknown = parts.pieces[unknown_of(parts)].text;
  if (parts.kind == ModelType::unigram) return unigram_of(parts);
  if (parts.kind == ModelType::word)
    return {{"type", "WordLevel"}, {"vocab", vocabulary_of(parts)}, {"unk_token", unknown}};
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", unknown},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", parts.byte_fallback},
          {"vocab", vocabulary_of(parts)},
          {"merges", parts.kind == ModelType::bpe ? merges_of(parts) : json::array()}};
}

json added_tokens_of(const Parts& parts) {
  auto tokens = json::array();
  for (size_t id = 0; id < parts.pieces.size(); ++id)
    if (const auto& piece = parts.pieces[id];
        piece.type == PieceType::control || piece.type == PieceType::unknown)
      tokens.push_back({{"id", id},
                        {"content", piece.text},
                        {"single_word", false},
                        {"lstrip", false},
                        {"rstrip", false},
                        {"normalized", false},
                        {"special", true}});
  return tokens;
}

/// `name_of` gives the text of a special token.
json post_processor_of(const Frame& frame, const auto& name_of) {
  auto single = json::array(), names = json::object();
  const auto add = [&](const std::optional<int32_t>& id) {
    if (!id) return;
    const std::string name = name_of(*id);
    single.push_back({{"SpecialToken", {{"id", name}, {"type_id", 0}}}});
    names[name] = {{"id", name}, {"ids", {*id}}, {"tokens", {name}}};
  };
  const auto text = [](const char* which) {
    return json{{"Sequence", {{"id", which}, {"type_id", 0}}}};
  };
  add(frame.before);
  single.push_back(text("A"));
  add(frame.after);
  if (names.empty()) return nullptr;
  auto pair = single;
  pair.insert(pair.begin() + (frame.before ? 2 : 1), text("B"));
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", names}};
}

}  // namespace

std::string to_tokenizer_json(std::string_view sentence_piece, const Frame& frame) {
  const auto parts = read_parts(sentence_piece);
  require_expressible(parts);
  const auto name_of = [&](int32_t id) {
    if (id >= std::ssize(parts.pieces))
      throw TokenizerError("the special token " + std::to_string(id) + " is not in the model");
    return parts.pieces[static_cast<size_t>(id)].text;
  };
  return json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", added_tokens_of(parts)},
              {"normalizer", normalizer_of(parts)},
              {"pre_tokenizer", pre_tokenizer_of(parts)},
              {"post_processor", post_processor_of(frame, name_of)},
              {"decoder", decoder_of(parts)},
              {"model", model_of(parts)}}
             .dump() +
         "\n";
}

std::string with_frame(const std::string& tokenizer_json, const Frame& frame) {
  const auto list = [](const std::optional<int32_t>& id) {
    return id ? std::vector<int32_t>{*id} : std::vector<int32_t>();
  };
  const auto around = surroundings_of(tokenizer_json);
  if (around.before == list(frame.before) && around.behind == list(frame.after))
    return tokenizer_json;
  std::map<int32_t, std::string> names;
  for (const auto& [name, id] : token_ids(tokenizer_json)) names.emplace(id, name);
  auto tree = json::parse(tokenizer_json);
  tree["post_processor"] = post_processor_of(frame, [&](int32_t id) { return names.at(id); });
  return tree.dump() + "\n";
}

}  // namespace ablate::tokenizer
