#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "tokenizer/huggingface/decoder.h"
#include "tokenizer/model_trainer.h"
#include "tokenizer/piece_model.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/digest.h"
#include "tokenizer/tokenizer_model.h"

namespace ablate::tokenizer {
namespace {

constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr int64_t kLargestVocabulary = int64_t{1} << 24;

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

namespace {

std::unique_ptr<const TokenizerModel> read_model(const ForeignFile& content) {
  const auto facts = content.facts.value_or(ForeignFacts{});
  if (!is_json(content.file)) return read_sentence_piece(content.file, facts.vocabulary);
  std::vector<int32_t> hidden;
  for (const auto& id : {facts.specials.pad, facts.specials.bos, facts.specials.eos,
                         facts.specials.unk, facts.specials.mask})
    if (id) hidden.push_back(*id);
  return read_tokenizer_json(content.file, hidden);
}

int64_t size_of(const ForeignFile& content, const TokenizerModel& file) {
  const auto size = content.facts && content.facts->size ? *content.facts->size : file.size();
  if (size > kLargestVocabulary) throw TokenizerError("the model has more than 16777216 tokens");
  if (size < file.size())
    throw TokenizerError("the model has " + std::to_string(size) + " tokens, and its tokenizer " +
                         std::to_string(file.size()));
  return size;
}

}  // namespace

struct Tokenizer::Model {
  std::string bytes;
  ForeignFile content;  // in `bytes`
  std::unique_ptr<const TokenizerModel> file;
  SpecialIds specials;
  IdMap ids;

  explicit Model(std::string text)
      : bytes(std::move(text)),
        content(divided(bytes)),
        file(read_model(content)),
        specials(content.facts ? content.facts->specials
                               : special_ids(read_piece_model(content.file))),
        ids(size_of(content, *file), specials) {}
};

Tokenizer Tokenizer::train(const TokenizerOptions& options, std::span<const std::string> lines) {
  return from_bytes(options.kind == Kind::byte ? byte_model(options.mask)
                                               : train_model(options, lines));
}

Tokenizer Tokenizer::load(const std::filesystem::path& file) {
  auto bytes = read(file);
  try {
    if (!is_json(bytes)) return from_bytes(std::move(bytes));
    const auto config = read(file.parent_path() / kTokenizerConfig);
    auto specials = named_specials(config, token_ids(bytes));
    add_missing(specials, {.unk = unknown_in(bytes)});
    return foreign(bytes, {.specials = specials});
  } catch (const TokenizerError& error) {
    throw TokenizerError(file.string() + ": " + error.what());
  }
}

Tokenizer Tokenizer::from_bytes(std::string model) {
  return Tokenizer(std::make_shared<const Model>(std::move(model)));
}

Tokenizer Tokenizer::foreign(std::string_view file, const ForeignFacts& facts) {
  return from_bytes(with_facts(facts, file));
}

const std::string& Tokenizer::bytes() const { return model_->bytes; }
std::string_view Tokenizer::file() const { return model_->content.file; }
const std::optional<ForeignFacts>& Tokenizer::facts() const { return model_->content.facts; }

std::optional<Framing> Tokenizer::framing() const {
  return facts() ? facts()->framing : std::nullopt;
}
const SpecialIds& Tokenizer::specials() const { return model_->specials; }
std::string Tokenizer::sha256() const { return tokenizer::sha256(model_->bytes); }
const IdMap& Tokenizer::ids() const { return model_->ids; }

bool Tokenizer::merges() const { return model_->file->merges(); }

std::string Tokenizer::normalized(std::string_view line) const {
  return model_->file->normalized(line);
}

std::vector<int32_t> Tokenizer::encode(std::string_view line) const {
  auto ids = model_->file->encode(line);
  for (auto& id : ids) id = std::max(model_->ids.ours(id), kUnk);
  return ids;
}

Encoded Tokenizer::encode(std::string_view line, int64_t limit) const {
  return limited(encode(line), limit);
}

std::vector<std::string> Tokenizer::tokens(std::string_view line) const {
  return model_->file->tokens(line);
}

std::string Tokenizer::left_out(std::string_view line) const {
  return model_->file->left_out(line);
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::vector<int32_t> kept;
  for (const int32_t id : ids)
    if (id >= kUnk && id < vocabulary_size())
      if (const auto theirs = model_->ids.theirs(id); theirs && *theirs < model_->file->size())
        kept.push_back(*theirs);
  auto text = model_->file->decode(kept);
  if (facts() && facts()->cleans) huggingface::clean_up(text);
  return text;
}

int64_t Tokenizer::vocabulary_size() const { return model_->ids.size(); }

std::string Tokenizer::token(int32_t id) const {
  constexpr std::array<std::string_view, 4> kSpecials = {kPadPiece, kBosPiece, kEosPiece,
                                                         kUnkPiece};
  if (id <= kUnk) return std::string(kSpecials.at(static_cast<size_t>(id)));
  const auto theirs = model_->ids.theirs(id).value();
  if (theirs == model_->specials.mask) return std::string(kMaskToken);
  if (theirs >= model_->file->size()) return "<unused " + std::to_string(theirs) + ">";
  return model_->file->token(theirs);
}

float Tokenizer::score(int32_t id) const {
  const auto theirs = model_->ids.theirs(id);
  return theirs && *theirs < model_->file->size() ? model_->file->score(*theirs) : 0;
}

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
  if (const auto text_left_out = tokenizer.left_out(text); !text_left_out.empty()) {
    ++result.unknown_tokens;
    result.hidden_bytes += std::ssize(text_left_out);
  }
  const auto back = tokenizer.decode(ids);
  result.altered = back != text;
  result.lost = result.altered && normal_form(tokenizer, back) != normal_form(tokenizer, text);
  return result;
}

}  // namespace ablate::tokenizer
