#include "tokenizer/tokenizer.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "tokenizer/digest.h"
#include "tokenizer/special_ids.h"

namespace ablate::tokenizer {
namespace {

constexpr int64_t kDefaultVocabulary = 8000;

using Arguments = std::unordered_map<std::string, std::string>;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::bpe:
      return "bpe";
    case Kind::unigram:
      return "unigram";
    case Kind::character:
      return "char";
    case Kind::word:
      return "word";
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
  Arguments result{{"model_type", std::string(name_of(options.kind))},
                   {"normalization_rule_name", name_of(options.normalization)},
                   {"character_coverage", std::to_string(options.coverage)},
                   {"vocab_size", std::to_string(options.vocabulary.value_or(kDefaultVocabulary))},
                   {"use_all_vocab", whole && !options.vocabulary ? "true" : "false"},
                   {"hard_vocab_limit", "false"},
                   {"max_sentence_length", std::to_string(longest_line + 1)},
                   {"num_threads", "1"},
                   {"shuffle_input_sentence", "false"},
                   {"minloglevel", "2"},
                   {"pad_id", std::to_string(kPad)},
                   {"bos_id", std::to_string(kBos)},
                   {"eos_id", std::to_string(kEos)},
                   {"unk_id", std::to_string(kUnk)},
                   {"pad_piece", std::string(kPadPiece)},
                   {"bos_piece", std::string(kBosPiece)},
                   {"eos_piece", std::string(kEosPiece)},
                   {"unk_piece", std::string(kUnkPiece)}};
  return result;
}

/// Feeds the trainer every line that is text; a NUL would end the line for the library.
class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(std::span<const std::string> lines) : lines_(lines) {}
  bool done() const override { return next_ == lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::span<const std::string> lines_;
  size_t next_ = 0;
};

/// The number behind the last "<=" of the library's message that the vocabulary is too large.
std::string largest_possible(const std::string& message) {
  const auto sign = message.rfind("<= ");
  if (sign == std::string::npos) return {};
  const auto digits = message.substr(sign + 3);
  return digits.substr(0, digits.find_first_not_of("0123456789"));
}

std::string trained_model(const Arguments& wanted, std::span<const std::string> lines) {
  auto retry = wanted;
  for (int attempt = 0;; ++attempt) {
    Lines iterator(lines);
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(retry, &iterator, &model);
    if (status.ok()) return model;
    const auto largest = largest_possible(status.ToString());
    if (largest.empty() || attempt > 0)
      throw TokenizerError("no tokenizer can be learned from this text: " + status.ToString());
    retry["vocab_size"] = largest;
  }
}

}  // namespace

struct Tokenizer::Model {
  std::string bytes;
  sentencepiece::SentencePieceProcessor processor;
};

Tokenizer Tokenizer::train(const TokenizerOptions& options, std::span<const std::string> lines) {
  size_t longest = 0, text = 0;
  for (const auto& line : lines) {
    longest = std::max(longest, line.size());
    text += line.size();
  }
  if (text == 0) throw TokenizerError("a tokenizer needs text to learn from, and there is none");
  return from_bytes(trained_model(arguments(options, longest), lines));
}

Tokenizer Tokenizer::load(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw TokenizerError("cannot read the tokenizer model " + file.string());
  try {
    return from_bytes(std::string(std::istreambuf_iterator<char>(stream), {}));
  } catch (const TokenizerError& error) {
    throw TokenizerError(file.string() + ": " + error.what());
  }
}

Tokenizer Tokenizer::from_bytes(std::string model) {
  check_model(model);
  auto made = std::make_shared<Model>();
  made->bytes = std::move(model);
  sentencepiece::util::Status status;
  try {
    status = made->processor.LoadFromSerializedProto(made->bytes);
  } catch (const std::exception& error) {
    throw TokenizerError(std::string("not a usable tokenizer model: ") + error.what());
  }
  if (!status.ok()) throw TokenizerError("not a usable tokenizer model: " + status.ToString());
  return Tokenizer(std::move(made));
}

const std::string& Tokenizer::bytes() const { return model_->bytes; }
std::string Tokenizer::sha256() const { return tokenizer::sha256(model_->bytes); }

std::vector<int32_t> Tokenizer::encode(std::string_view line) const {
  return model_->processor.EncodeAsIds(line);
}

Encoded Tokenizer::encode(std::string_view line, int64_t limit) const {
  Encoded encoded{.ids = encode(line)};
  const auto most = static_cast<size_t>(std::max<int64_t>(limit, 0));
  encoded.cut = encoded.ids.size() > most;
  if (encoded.cut) encoded.ids.resize(most);
  return encoded;
}

std::vector<std::string> Tokenizer::pieces(std::string_view line) const {
  return model_->processor.EncodeAsPieces(line);
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::vector<int> kept;
  for (const int32_t id : ids)
    if (id >= kUnk && id < vocabulary_size()) kept.push_back(id);
  return model_->processor.DecodeIds(kept);
}

int64_t Tokenizer::vocabulary_size() const { return model_->processor.GetPieceSize(); }

}  // namespace ablate::tokenizer
