#include "tokenizer/model_trainer.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <unordered_map>

#include "tokenizer/piece_model.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer {
namespace {

constexpr int64_t kDefaultVocabulary = 8000, kMostWords = 1'048'576;
constexpr size_t kShortestLimit = 1024;  // the library refuses a limit below 10
// The BPE trainer ends the process at a word of 2^16 characters, and normalisation makes up to 18
// of one.
constexpr size_t kLongestWord = 2048;

using Arguments = std::unordered_map<std::string, std::string>;

std::string name_of(Kind kind) {
  switch (kind) {
    case Kind::bpe:
      return "bpe";
    case Kind::unigram:
      return "unigram";
    case Kind::character:
      return "char";
    case Kind::word:
      return "word";
    case Kind::byte:
      break;  // learns no model
  }
  throw TokenizerError("unknown kind of tokenizer");
}

std::string name_of(Normalization normalization) {
  for (const auto& [value, name] : names(normalization))
    if (value == normalization) return std::string(name);
  throw TokenizerError("unknown normalisation");
}

Arguments arguments(const TokenizerOptions& options, size_t longest_line) {
  const bool whole = options.kind == Kind::word || options.kind == Kind::character;
  // use_all_vocab would take characters that are not covered, too.
  const bool all = whole && !options.vocabulary && options.coverage == 1;
  const auto vocabulary = whole && !all ? kMostWords : kDefaultVocabulary;
  return {{"model_type", name_of(options.kind)},
          {"normalization_rule_name", name_of(options.normalization)},
          {"character_coverage", std::to_string(options.coverage)},
          {"vocab_size", std::to_string(options.vocabulary.value_or(vocabulary))},
          {"use_all_vocab", all ? "true" : "false"},
          {"hard_vocab_limit", "false"},
          // The library refuses a limit below 10.
          {"max_sentence_length", std::to_string(std::max<size_t>(longest_line, 10))},
          {"add_dummy_prefix", options.spaces == Spaces::tidy ? "true" : "false"},
          {"remove_extra_whitespaces", options.spaces == Spaces::tidy ? "true" : "false"},
          {"num_threads", "1"},
          {"shuffle_input_sentence", "false"},
          {"minloglevel", "3"},
          {"pad_id", std::to_string(kPad)},
          {"bos_id", std::to_string(kBos)},
          {"eos_id", std::to_string(kEos)},
          {"unk_id", std::to_string(kUnk)},
          {"pad_piece", training_name(kPadPiece)},
          {"bos_piece", training_name(kBosPiece)},
          {"eos_piece", training_name(kEosPiece)},
          {"unk_piece", training_name(kUnkPiece)}};
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

/// `line` with a space inside every word of more than kLongestWord bytes.
std::string with_words_cut(const std::string& line) {
  std::string cut;
  size_t word = 0;
  for (const char byte : line) {
    word = byte == ' ' ? 0 : word + 1;
    if (word > kLongestWord && (!continues_character(byte) || word > 2 * kLongestWord)) {
      cut += ' ';
      word = 1;
    }
    cut += byte;
  }
  return cut;
}

/// The library silently leaves out every line with U+2585, its mark of the unknown.
std::string readable(std::string line) {
  std::ranges::replace(line, '\0', ' ');
  replace_all(line, "\u2585", " ");
  return line.size() > kLongestWord ? with_words_cut(line) : line;
}

class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::span<const std::string> lines) : lines_(lines) { read(); }
  bool done() const override { return next_ == lines_.size(); }
  void Next() override {
    ++next_;
    read();
  }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void read() {
    if (!done()) line_ = readable(lines_[next_]);
  }

  std::span<const std::string> lines_;
  size_t next_ = 0;
  std::string line_;
};

/// Whether normalisation leaves any character but spaces; the unigram trainer ends the process if
/// there is none.
bool has_text(Normalization normalization, std::span<const std::string> lines) {
  sentencepiece::SentencePieceNormalizer normalizer;
  const auto status = normalizer.LoadFromRuleName(name_of(normalization));
  if (!status.ok()) throw TokenizerError("cannot normalise text: " + status.ToString());
  return std::ranges::any_of(lines, [&](const std::string& line) {
    std::string rest = normalizer.Normalize(readable(line));
    for (const auto* space : {"\u2581", " ", "\t"}) replace_all(rest, space, "");
    return !rest.empty();
  });
}

/// The number after `words` in the library's message; empty if they do not occur.
std::string number_after(const std::string& message, std::string_view words) {
  const auto at = message.rfind(words);
  if (at == std::string::npos) return {};
  const auto digits = message.substr(at + words.size());
  return digits.substr(0, digits.find_first_not_of("0123456789"));
}

[[noreturn]] void refuse_vocabulary(const std::string& message, const std::string& vocabulary) {
  const auto smallest = number_after(message, vocabulary + " vs ");
  if (!smallest.empty())
    throw TokenizerError("the text has more characters than a vocabulary of " + vocabulary +
                         " tokens can hold; raise tokenizer.vocabulary to at least " + smallest +
                         " or lower tokenizer.coverage");
  throw TokenizerError("no tokenizer can be learned from this text: " + message);
}

}  // namespace

std::string train_model(const TokenizerOptions& options, std::span<const std::string> lines) {
  size_t longest = kShortestLimit;
  for (const auto& line : lines)
    longest = std::max(longest, 2 * line.size());  // words that are cut make it longer
  if (!has_text(options.normalization, lines))
    throw TokenizerError("a tokenizer needs text to learn from, and there is none");
  auto wanted = arguments(options, longest);
  if (options.mask) wanted["control_symbols"] = training_name(kMaskToken);
  for (bool first = true;; first = false) {
    Lines iterator(lines);
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(wanted, &iterator, &model);
    if (status.ok()) return with_own_names(model);
    const auto largest = number_after(status.ToString(), "<= ");
    if (largest.empty() || !first) refuse_vocabulary(status.ToString(), wanted["vocab_size"]);
    wanted["vocab_size"] = largest;
  }
}

namespace {

void add_piece(protozero::pbf_writer& model, std::string_view text, PieceType type) {
  protozero::pbf_writer piece(model, kPieces);
  piece.add_string(kPieceText, text.data(), text.size());
  piece.add_float(kPieceScore, 0);
  piece.add_enum(kPieceType, static_cast<int32_t>(type));
}

/// "<0x00>", as SentencePiece calls the byte 0.
std::string byte_name(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'};
}

void add_specials(protozero::pbf_writer& model) {
  add_piece(model, kPadPiece, PieceType::control);
  add_piece(model, kBosPiece, PieceType::control);
  add_piece(model, kEosPiece, PieceType::control);
  add_piece(model, kUnkPiece, PieceType::unknown);
}

}  // namespace

std::string number_model(int64_t count) {
  constexpr const char* kSpace = "\xe2\x96\x81";
  std::string bytes;
  protozero::pbf_writer model(bytes);
  add_specials(model);
  for (int64_t number = 0; number < count; ++number)
    add_piece(model, kSpace + std::to_string(number), PieceType::normal);
  {
    protozero::pbf_writer trainer(model, kTrainer);
    trainer.add_enum(kModelType, static_cast<int32_t>(ModelType::word));
  }
  protozero::pbf_writer normalizer(model, kNormalizer);
  normalizer.add_string(kNormalizerName, "identity");
  return bytes;
}

std::string byte_model(bool mask) {
  std::string bytes;
  protozero::pbf_writer model(bytes);
  add_specials(model);
  if (mask) add_piece(model, kMaskToken, PieceType::control);
  for (unsigned byte = 0; byte < 256; ++byte) add_piece(model, byte_name(byte), PieceType::byte);
  {
    protozero::pbf_writer trainer(model, kTrainer);
    trainer.add_enum(kModelType, static_cast<int32_t>(ModelType::character));
    trainer.add_bool(kByteFallback, true);
  }
  protozero::pbf_writer normalizer(model, kNormalizer);
  normalizer.add_string(kNormalizerName, "identity");
  normalizer.add_bool(kAddDummyPrefix, false);
  normalizer.add_bool(kRemoveExtraWhitespaces, false);
  normalizer.add_bool(kEscapeWhitespaces, false);
  return bytes;
}

}  // namespace ablate::tokenizer
