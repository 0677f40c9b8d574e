#include "tokenizer/huggingface/decoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

using Tokens = std::vector<std::string>;

constexpr int64_t kMostStripped = 1 << 20;

std::string joined(const Tokens& tokens, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) text += between;
    text += tokens[i];
  }
  return text;
}

std::string valid(std::string_view bytes) {
  std::string text;
  for (const auto point : code_points(bytes)) append_utf8(text, point);
  return text;
}

/// A token with a character that stands for no byte is taken as it is.
std::string bytes_of(const std::string& token) {
  std::string bytes;
  for (const auto point : code_points(token)) {
    const int byte = byte_of_character(point);
    if (byte < 0) return token;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

void undo(Tokens& tokens, FromByteCharacters) {
  std::string bytes;
  for (const auto& token : tokens) bytes += bytes_of(token);
  tokens = {valid(bytes)};
}

/// The byte of <0xHH>; negative if the token is none.
int byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return -1;
  int byte = 0;
  const auto* const end = token.data() + 5;
  const auto read = std::from_chars(token.data() + 3, end, byte, 16);
  return read.ec == std::errc() && read.ptr == end && byte >= 0 ? byte : -1;
}

/// Bytes that follow each other are text, or each U+FFFD if they are not valid together.
void undo(Tokens& tokens, FromByteTokens) {
  Tokens texts;
  std::string bytes;
  const auto finish = [&] {
    if (valid_utf8(bytes))
      texts.push_back(bytes);
    else
      texts.insert(texts.end(), bytes.size(), "\ufffd");
    bytes.clear();
  };
  for (auto& token : tokens) {
    const int byte = byte_of_token(token);
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    if (!bytes.empty()) finish();
    texts.push_back(std::move(token));
  }
  if (!bytes.empty()) finish();
  tokens = std::move(texts);
}

void undo(Tokens& tokens, Fuse) { tokens = {joined(tokens, "")}; }

void undo(Tokens& tokens, const JoinWordPieces& join) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    auto& token = tokens[i];
    if (i > 0 && token.starts_with(join.prefix))
      token.erase(0, join.prefix.size());
    else if (i > 0)
      token.insert(0, " ");
    if (!join.cleanup) continue;
    clean_up(token);
    replace_all(token, " do not", " don't");  // which no other replacement makes or undoes
  }
}

void undo(Tokens& tokens, const EndOfWord& end) {
  for (size_t i = 0; i < tokens.size(); ++i)
    replace_all(tokens[i], end.suffix, i + 1 < tokens.size() ? " " : "");
}

void undo(Tokens& tokens, const StripEnds& strip) {
  const auto& character = strip.character;
  for (auto& token : tokens) {
    std::string_view rest = token;
    for (int64_t i = 0; i < strip.start && rest.starts_with(character); ++i)
      rest.remove_prefix(character.size());
    const auto begin = token.size() - rest.size();
    for (int64_t i = 0; i < strip.stop && rest.ends_with(character); ++i)
      rest.remove_suffix(character.size());
    token = token.substr(begin, rest.size());
  }
}

void undo(Tokens& tokens, const Metaspace& metaspace) {
  const bool drops = metaspace.prepend != Metaspace::Prepend::never;
  for (size_t i = 0; i < tokens.size(); ++i)
    replace_all(tokens[i], metaspace.mark, i == 0 && drops ? "" : " ");
}

void undo(Tokens& tokens, const Replace& replace) {
  std::vector<Part> parts;
  for (auto& token : tokens) {
    std::string replaced;
    replace.pattern.divide(token, parts);
    for (const auto& part : parts)
      replaced += part.match ? replace.content : token.substr(part.begin, part.end - part.begin);
    token = std::move(replaced);
  }
}

StripEnds read_strip(const Node& node) {
  node.allow({"content", "start", "stop"});
  StripEnds strip;
  append_utf8(strip.character, node.at("content").character());
  strip.start = node.at("start").count(kMostStripped);
  strip.stop = node.at("stop").count(kMostStripped);
  return strip;
}

}  // namespace

void clean_up(std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kEnglish = {
      {{" .", "."},
       {" ?", "?"},
       {" !", "!"},
       {" ,", ","},
       {" ' ", "'"},
       {" n't", "n't"},
       {" 'm", "'m"},
       {" 's", "'s"},
       {" 've", "'ve"},
       {" 're", "'re"}}};
  for (const auto& [from, to] : kEnglish) replace_all(text, from, to);
}

Decoder::Decoder(const Node& node) : between_("") { add(node); }

void Decoder::add(const Node& node) {
  const auto type = node.type();
  if (type == "Sequence") {
    node.allow({"decoders"});
    for (const auto& step : node.at("decoders").list()) add(step);
  } else if (type == "ByteLevel") {
    node.allow({"add_prefix_space", "trim_offsets", "use_regex"});
    steps_.emplace_back(FromByteCharacters{});
  } else if (type == "ByteFallback") {
    node.allow({});
    steps_.emplace_back(FromByteTokens{});
  } else if (type == "Fuse") {
    node.allow({});
    steps_.emplace_back(Fuse{});
  } else if (type == "WordPiece") {
    node.allow({"prefix", "cleanup"});
    steps_.emplace_back(JoinWordPieces{node.at("prefix").text(), node.at("cleanup").flag()});
  } else if (type == "BPEDecoder") {
    node.allow({"suffix"});
    steps_.emplace_back(EndOfWord{node.at("suffix").text()});
  } else if (type == "Strip") {
    steps_.emplace_back(read_strip(node));
  } else if (type == "Metaspace") {
    steps_.emplace_back(read_metaspace(node));
  } else if (type == "Replace") {
    steps_.emplace_back(read_replace(node));
  } else {
    node.refuse("is the decoder '" + type + "', which is not supported");
  }
}

std::string Decoder::decode(std::vector<std::string> tokens) const {
  for (const auto& step : steps_) std::visit([&](const auto& one) { undo(tokens, one); }, step);
  return joined(tokens, between_);
}

std::string Decoder::bytes(const std::string& token) const {
  const bool in_bytes = std::ranges::any_of(
      steps_, [](const Step& step) { return std::holds_alternative<FromByteCharacters>(step); });
  return in_bytes ? bytes_of(token) : token;
}

std::string Decoder::spelling(const std::string& token) const {
  const auto text = bytes(token);
  return valid_utf8(text) ? text : token;
}

}  // namespace ablate::tokenizer::huggingface
