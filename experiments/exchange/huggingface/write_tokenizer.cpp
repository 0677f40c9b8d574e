#include "experiments/exchange/huggingface/write_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/errors.h"
#include "tokenizer/json_form.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;
using tokenizer::Tokenizer;

json config_of(const Tokenizer& tokenizer, const TokenizerForm& form) {
  std::map<int32_t, std::string> names;
  for (const auto& [name, id] : tokenizer::token_ids(tokenizer.file())) names.emplace(id, name);
  const auto& special = tokenizer.specials();
  auto config = json{{"tokenizer_class", "PreTrainedTokenizerFast"}};
  if (form.length) config["model_max_length"] = *form.length;
  if (tokenizer.facts() && tokenizer.facts()->cleans) config["clean_up_tokenization_spaces"] = true;
  const auto name = [&](const std::string& key, const std::optional<int32_t>& id) {
    if (id && names.contains(*id)) config[key] = names.at(*id);
  };
  name("pad_token", special.pad);
  name(form.words.start, special.bos);
  name(form.words.end, special.eos);
  name("unk_token", special.unk);
  name("mask_token", special.mask);
  return config;
}

/// The name in vocab.json of one of our ids.
std::string marian_name(const Tokenizer& tokenizer, int32_t id) {
  if (id == tokenizer::kBos) return std::string(tokenizer::kPadPiece);
  if (id == tokenizer::kPad) return "<unused>";
  return tokenizer.token(id);
}

void write_marian(const std::filesystem::path& folder, const data::Tokenizers& tokenizers,
                  const TokenizerForm& form) {
  for (const auto* one : {&tokenizers.source, &tokenizers.target})
    if (tokenizer::is_json(one->file()))
      throw UsageError(
          "MarianMTModel takes SentencePiece models, and this run's tokenizer is a "
          "tokenizer.json");
  auto ids = json::object();
  for (const auto id : form.order) {
    const auto name = marian_name(tokenizers.source, id);
    if (!ids.emplace(name, ids.size()).second)
      throw UsageError("MarianMTModel cannot have two tokens '" + name + "'");
  }
  training::write_synced(folder / "source.spm", std::string(tokenizers.source.file()));
  training::write_synced(folder / "target.spm", std::string(tokenizers.target.file()));
  training::write_synced(folder / "vocab.json", ids.dump() + "\n");
  auto config = json{{"tokenizer_class", "MarianTokenizer"},
                     {"source_lang", "source"},
                     {"target_lang", "target"},
                     {"separate_vocabs", false},
                     {"pad_token", tokenizer::kPadPiece},
                     {"eos_token", tokenizer::kEosPiece},
                     {"unk_token", tokenizer::kUnkPiece}};
  if (form.length) config["model_max_length"] = *form.length;
  if (tokenizers.target.facts() && tokenizers.target.facts()->cleans)
    config["clean_up_tokenization_spaces"] = true;
  if (tokenizers.source.specials().mask) config["mask_token"] = tokenizer::kMaskToken;
  training::write_synced(folder / "tokenizer_config.json", config.dump(1) + "\n");
}

/// The special tokens around a text: the tokenizer's own, or those of the family.
tokenizer::Frame frame_of(const Tokenizer& tokenizer, const std::vector<FrameToken>& usual) {
  const auto& special = tokenizer.specials();
  const auto framing = tokenizer.framing();
  const auto has = [&](FrameToken token) { return std::ranges::count(usual, token) > 0; };
  return {
      .before = (framing ? framing->start : has(FrameToken::start)) ? special.bos : std::nullopt,
      .after = (framing ? framing->end : has(FrameToken::end)) ? special.eos : std::nullopt};
}

void write_one(const std::filesystem::path& folder, const Tokenizer& tokenizer,
               const TokenizerForm& form) {
  training::write_synced(folder / "tokenizer_config.json",
                         config_of(tokenizer, form).dump(1) + "\n");
  const std::string file(tokenizer.file());
  const auto frame = frame_of(tokenizer, form.words.frame);
  if (tokenizer::is_json(file))
    return training::write_synced(folder / "tokenizer.json", tokenizer::with_frame(file, frame));
  try {
    training::write_synced(folder / "tokenizer.json", tokenizer::to_tokenizer_json(file, frame));
  } catch (const tokenizer::TokenizerError& error) {
    throw UsageError(fmt::format("--format huggingface: {}", error.what()));
  }
  training::write_synced(folder / form.words.model, file);
}

}  // namespace

void write_tokenizer(const std::filesystem::path& folder, const data::Tokenizers& tokenizers,
                     const TokenizerForm& form) {
  switch (form.words.files) {
    case TokenizerFiles::json:
      return write_one(folder, tokenizers.target, form);
    case TokenizerFiles::marian:
      return write_marian(folder, tokenizers, form);
  }
}

}  // namespace ablate::exchange
