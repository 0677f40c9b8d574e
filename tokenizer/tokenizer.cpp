#include "tokenizer/tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "tokenizer/model_trainer.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/digest.h"

namespace ablate::tokenizer {
namespace {

std::string read(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw TokenizerError(file.string() + ": is a folder, not a tokenizer model");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw TokenizerError(file.string() + ": cannot read the tokenizer model");
  std::string bytes;
  std::array<char, 65'536> part;
  while (stream && bytes.size() <= kLargestModel) {
    stream.read(part.data(), part.size());
    bytes.append(part.data(), static_cast<size_t>(stream.gcount()));
  }
  return bytes;
}

}  // namespace

Encoded limited(std::vector<int32_t> ids, int64_t limit) {
  const auto most = static_cast<size_t>(std::max<int64_t>(limit, 0));
  const bool cut = ids.size() > most;
  if (cut) ids.resize(most);
  return {.ids = std::move(ids), .cut = cut};
}

struct Tokenizer::Model {
  std::string bytes;
  sentencepiece::SentencePieceProcessor processor;
};

Tokenizer Tokenizer::train(const TokenizerOptions& options, std::span<const std::string> lines) {
  return from_bytes(options.kind == Kind::byte ? byte_model(options.mask)
                                               : train_model(options, lines));
}

Tokenizer Tokenizer::load(const std::filesystem::path& file) {
  auto bytes = read(file);
  try {
    return from_bytes(std::move(bytes));
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
    status = made->processor.LoadFromSerializedProto(with_unspellable_names(made->bytes));
  } catch (const std::exception& error) {
    throw TokenizerError(std::string("not a usable tokenizer model: ") + error.what());
  }
  if (!status.ok()) throw TokenizerError("not a usable tokenizer model: " + status.ToString());
  return Tokenizer(std::move(made));
}

const std::string& Tokenizer::bytes() const { return model_->bytes; }
std::string Tokenizer::sha256() const { return tokenizer::sha256(model_->bytes); }

bool Tokenizer::merges() const { return model_type(model_->bytes) == ModelType::bpe; }

std::string Tokenizer::normalized(std::string_view line) const {
  return model_->processor.Normalize(line);
}

std::vector<int32_t> Tokenizer::encode(std::string_view line) const {
  return model_->processor.EncodeAsIds(line);
}

Encoded Tokenizer::encode(std::string_view line, int64_t limit) const {
  return limited(encode(line), limit);
}

std::vector<std::string> Tokenizer::tokens(std::string_view line) const {
  return model_->processor.EncodeAsPieces(line);
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::vector<int> kept;
  for (const int32_t id : ids)
    if (id >= kUnk && id < vocabulary_size()) kept.push_back(id);
  return model_->processor.DecodeIds(kept);
}

int64_t Tokenizer::vocabulary_size() const { return model_->processor.GetPieceSize(); }

std::string Tokenizer::token(int32_t id) const {
  const auto& name = model_->processor.IdToPiece(id);
  const bool special = model_->processor.IsControl(id) || model_->processor.IsUnknown(id);
  return special ? name.substr(1) : name;
}

float Tokenizer::score(int32_t id) const { return model_->processor.GetScore(id); }

namespace {

constexpr std::string_view kSpace = "\u2581";  // as SentencePiece writes it

std::string with_spaces(std::string text) {
  for (auto at = text.find(kSpace); at != std::string::npos; at = text.find(kSpace, at + 1))
    text.replace(at, kSpace.size(), " ");
  return text;
}

}  // namespace

std::string normal_form(const Tokenizer& tokenizer, std::string_view text) {
  return with_spaces(tokenizer.normalized(text));
}

Fidelity fidelity(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  const auto tokens = tokenizer.tokens(text);
  Fidelity result;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != kUnk) continue;
    ++result.unknown_tokens;
    result.hidden_bytes += std::ssize(with_spaces(tokens.at(i)));
  }
  const auto back = tokenizer.decode(ids);
  result.altered = back != text;
  result.lost = result.altered && normal_form(tokenizer, back) != normal_form(tokenizer, text);
  return result;
}

}  // namespace ablate::tokenizer
