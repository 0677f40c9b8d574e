#include "experiments/exchange/huggingface/read_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "tokenizer/piece_model.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;
using tokenizer::TokenizerError;
using Ids = std::map<std::string, int32_t>;

json read_json(const std::filesystem::path& file) {
  return training::parse_json(training::read_bytes(file));
}

/// The folder's settings of its tokenizer beside the file. As in Transformers, the map of an older
/// folder counts before tokenizer_config.json, and that of a newer one, which lists its tokens
/// there, does not count.
json configuration(const std::filesystem::path& folder) {
  auto config = json::object();
  for (const auto* name : {"tokenizer_config.json", "special_tokens_map.json"})
    if (std::filesystem::exists(folder / name) && !config.contains("added_tokens_decoder"))
      config.update(read_json(folder / name));
  return config;
}

/// Whether a BertNormalizer strips accents with this value of `strip_accents`; null: as
/// `lowercase`.
json strips_accents(const json& part, const json& value) {
  return value.is_null() ? json(part.value("lowercase", true)) : value;
}

/// Throws TokenizerError if Transformers would change the file by a field of the configuration.
void require_unchanged(const json& config, const json& tree) {
  struct Field {
    const char *name, *part, *type, *own;
  };
  for (const auto& field :
       {Field{"do_lower_case", "normalizer", "BertNormalizer", "lowercase"},
        Field{"strip_accents", "normalizer", "BertNormalizer", "strip_accents"},
        Field{"tokenize_chinese_chars", "normalizer", "BertNormalizer", "handle_chinese_chars"},
        Field{"add_prefix_space", "pre_tokenizer", "ByteLevel", "add_prefix_space"}}) {
    const auto part = tree.find(field.part);
    if (!config.contains(field.name) || part == tree.end() || !part->is_object() ||
        part->value("type", "") != field.type)
      continue;
    auto said = config[field.name], own = part->value(field.own, json(true));
    if (std::string_view(field.own) == "strip_accents") {
      said = strips_accents(*part, said);
      own = strips_accents(*part, part->value(field.own, json()));
    }
    if (said.is_boolean() && said != own)
      throw TokenizerError(fmt::format("tokenizer_config.json has {}: {}, but tokenizer.json not",
                                       field.name, config[field.name].dump()));
  }
}

/// Throws TokenizerError if the configuration adds tokens to those of the file.
void require_known_tokens(const json& config, const Ids& ids) {
  if (!config.contains("added_tokens_decoder")) return;
  for (const auto& [id, token] : config["added_tokens_decoder"].items()) {
    const auto content = token.value("content", "");
    const auto known = ids.find(content);
    if (known == ids.end() || std::to_string(known->second) != id)
      throw TokenizerError(
          fmt::format("tokenizer_config.json has the token '{}' with the id {}, and the "
                      "tokenizer's file {}",
                      content, id, known == ids.end() ? "lacks it" : "another"));
  }
}

/// The name of a token, which is a string or an object; empty if it is neither.
std::string name_of(const json& token) {
  const json name = token.is_object() ? token.value("content", json()) : token;
  return name.is_string() ? name.get<std::string>() : "";
}

/// The tokens that the folder names beside tokenizer.json.
std::set<std::string> named_tokens(const std::filesystem::path& folder, const json& config) {
  std::set<std::string> names;
  for (const auto& [field, value] : config.items()) {
    if (field.ends_with("_token")) names.insert(name_of(value));
    if (field.ends_with("_special_tokens") || field == "added_tokens_decoder")
      for (const auto& token : value) names.insert(name_of(token));
  }
  if (const auto file = folder / "added_tokens.json"; std::filesystem::exists(file)) {
    const auto added = read_json(file);
    for (const auto& [name, id] : added.items()) names.insert(name);
  }
  names.erase("");
  return names;
}

/// By their names, those that the file itself finds everywhere in a text.
std::map<std::string, json> added_tokens(const json& tree) {
  std::map<std::string, json> added;
  if (const auto list = tree.find("added_tokens"); list != tree.end())
    for (const auto& token : *list) added[name_of(token)] = token;
  return added;
}

/// Throws TokenizerError for a named token that only Transformers would find everywhere in a text;
/// those of `special` are no text here.
void require_added(const std::set<std::string>& names, const std::map<std::string, json>& added,
                   const tokenizer::SpecialIds& special, const Ids& ids) {
  for (const auto& name : names) {
    const auto known = ids.find(name);
    const auto id = known == ids.end() ? std::optional<int32_t>() : known->second;
    const bool is_special = id && (id == special.pad || id == special.bos || id == special.eos ||
                                   id == special.unk || id == special.mask);
    if (!added.contains(name) && !is_special)
      throw TokenizerError(fmt::format(
          "its configuration names the token '{}', which is not among the added_tokens of "
          "tokenizer.json; write both anew by "
          "AutoTokenizer.from_pretrained(...).save_pretrained(...)",
          name));
  }
}

/// A token that the class of such models adds to a model without being asked: T5's, of the spans
/// that were taken out. Empty if the configuration asks for no such tokens.
std::string added_by_class(const json& config, const tokenizer::Framing& usual) {
  return usual.end && config.value("extra_ids", 100) > 0 ? "<extra_id_0>" : "";
}

/// Throws TokenizerError for a named token that a SentencePiece model lacks, so that only
/// Transformers would find it in a text.
void require_pieces(const std::set<std::string>& names, const Ids& pieces) {
  for (const auto& name : names)
    if (!pieces.contains(name))
      throw TokenizerError(
          fmt::format("its configuration names the token '{}', which its SentencePiece model "
                      "lacks; write tokenizer.json by "
                      "AutoTokenizer.from_pretrained(...).save_pretrained(...)",
                      name));
}

/// Throws TokenizerError if the configuration finds a token of the file otherwise than it.
void require_same_flags(const json& config, const std::map<std::string, json>& added) {
  const auto listed = config.find("added_tokens_decoder");
  if (listed == config.end()) return;
  for (const auto& token : *listed) {
    const auto own = added.find(name_of(token));
    for (const auto* flag : {"single_word", "lstrip", "rstrip", "normalized"})
      if (own != added.end() && token.contains(flag) &&
          token[flag] != own->second.value(flag, token[flag]))
        throw TokenizerError(
            fmt::format("tokenizer_config.json has {}: {} for the token '{}', but tokenizer.json "
                        "not",
                        flag, token[flag].dump(), own->first));
  }
}

/// Whether Transformers takes spaces before punctuation away, which it never does for BPE.
bool cleans_up(const json& config, bool merges) {
  const auto field = config.find("clean_up_tokenization_spaces");
  return !merges && field != config.end() && *field == true;
}

tokenizer::SpecialIds specials_of(const json& config, const Ids& ids) {
  require_known_tokens(config, ids);
  return tokenizer::named_specials(config.dump(), ids);
}

/// The configuration with the names that BertTokenizer has for tokens of a WordPiece file that it
/// does not name, as the first BERT folders, bert-base-uncased among them, leave to that class.
json with_names_of_class(json config, const json& tree, const Ids& ids) {
  const auto kind = config.find("tokenizer_class");
  const bool other = kind != config.end() && kind->is_string() &&
                     !kind->get<std::string>().starts_with("BertTokenizer");
  if (other || tree.at("model").value("type", "") != "WordPiece") return config;
  for (const auto& [name, token] : {std::pair{"pad_token", "[PAD]"},
                                    {"cls_token", "[CLS]"},
                                    {"sep_token", "[SEP]"},
                                    {"unk_token", "[UNK]"},
                                    {"mask_token", "[MASK]"}})
    if (!config.contains(name) && ids.contains(token)) config[name] = token;
  return config;
}

HubTokenizer read_json_file(const std::filesystem::path& folder, const json& said) {
  const auto file = training::read_bytes(folder / "tokenizer.json");
  const auto ids = tokenizer::token_ids(file);
  const auto tree = json::parse(file);
  const auto config = with_names_of_class(said, tree, ids);
  require_unchanged(config, tree);
  auto special = specials_of(config, ids);
  tokenizer::add_missing(special, {.unk = tokenizer::unknown_in(file)});
  const auto added = added_tokens(tree);
  require_added(named_tokens(folder, config), added, special, ids);
  require_same_flags(config, added);
  return {.source = file,
          .target = file,
          .vocabulary = {},
          .special = special,
          .around = tokenizer::surroundings_of(file),
          .cleans = cleans_up(config, tree.at("model").contains("merges"))};
}

/// Around a text by a class for SentencePiece models, which tokenizer_config.json may change.
tokenizer::Surroundings around_pieces(const json& config, const tokenizer::SpecialIds& special,
                                      const tokenizer::Framing& usual) {
  tokenizer::Surroundings around;
  if (config.value("add_bos_token", usual.start) && special.bos) around.before = {*special.bos};
  if (config.value("add_eos_token", usual.end) && special.eos) around.behind = {*special.eos};
  return around;
}

HubTokenizer read_marian_files(const std::filesystem::path& folder, const json& config) {
  if (config.value("separate_vocabs", false))
    throw TokenizerError("source and target have vocabularies of their own (separate_vocabs)");
  HubTokenizer read{.source = training::read_bytes(folder / "source.spm"),
                    .target = training::read_bytes(folder / "target.spm"),
                    .vocabulary = read_json(folder / "vocab.json").get<Ids>(),
                    .special = {},
                    .around = {},
                    .cleans = cleans_up(config, /*merges=*/false)};
  read.special = specials_of(config, read.vocabulary);
  const auto id_of = [&](std::string_view piece) {
    const auto found = read.vocabulary.find(std::string(piece));
    return found == read.vocabulary.end() ? std::optional<int32_t>() : found->second;
  };
  tokenizer::add_missing(read.special, {.pad = {},
                                        .bos = {},
                                        .eos = id_of(tokenizer::kEosPiece),
                                        .unk = id_of(tokenizer::kUnkPiece),
                                        .mask = {}});
  if (read.special.eos) read.around.behind = {*read.special.eos};
  return read;
}

/// `usual`: what the class of such models puts around a text.
HubTokenizer read_sentence_piece(const std::filesystem::path& file, const json& config,
                                 const tokenizer::Framing& usual) {
  const auto bytes = training::read_bytes(file);
  const auto pieces = tokenizer::token_ids(bytes);
  auto special = specials_of(config, pieces);
  auto names = named_tokens(file.parent_path(), config);
  if (const auto added = added_by_class(config, usual); !added.empty()) names.insert(added);
  require_pieces(names, pieces);
  tokenizer::add_missing(special, tokenizer::special_ids(tokenizer::read_piece_model(bytes)));
  return {.source = bytes,
          .target = bytes,
          .vocabulary = {},
          .special = special,
          .around = around_pieces(config, special, usual),
          .cleans = cleans_up(config, /*merges=*/usual.start)};  // Llama's
}

HubTokenizer read_files(const std::filesystem::path& folder) {
  const auto config = configuration(folder);
  if (std::filesystem::exists(folder / "tokenizer.json")) return read_json_file(folder, config);
  if (std::filesystem::exists(folder / "source.spm")) return read_marian_files(folder, config);
  if (std::filesystem::exists(folder / "tokenizer.model"))  // Llama's
    return read_sentence_piece(folder / "tokenizer.model", config, {.start = true, .end = false});
  if (std::filesystem::exists(folder / "spiece.model"))  // T5's
    return read_sentence_piece(folder / "spiece.model", config, {.start = false, .end = true});
  throw training::CheckpointError(fmt::format(
      "{}: has none of tokenizer.json, source.spm, tokenizer.model and spiece.model; write "
      "tokenizer.json by AutoTokenizer.from_pretrained(...).save_pretrained(...), or give "
      "tokenizers of ours by --tokenizers",
      folder.string()));
}

}  // namespace

HubTokenizer read_tokenizer(const std::filesystem::path& folder) {
  try {
    return read_files(folder);
  } catch (const TokenizerError& error) {
    throw TokenizerError(folder.string() + ": " + error.what());
  } catch (const json::exception&) {
    throw TokenizerError(folder.string() +
                         ": a file of the tokenizer has another form than "
                         "Transformers writes");
  }
}

namespace {

/// Whether a special token stands on one side of a text; a text without it is read so, too.
bool is_there(const std::vector<int32_t>& ids, const std::optional<int32_t>& special,
              const std::string& where) {
  if (ids.empty()) return false;
  if (ids.size() == 1 && special == ids.front()) return true;
  throw TokenizerError(fmt::format(
      "the tokenizer puts the tokens {} {} a text, which are not the one that config.json names",
      fmt::join(ids, ", "), where));
}

tokenizer::Framing framing_of(const HubTokenizer& files, const HubCheckpoint& model) {
  const tokenizer::Framing framing{
      .start = is_there(files.around.before, model.special.bos, "before"),
      .end = is_there(files.around.behind, model.special.eos, "behind")};
  if (framing.end && model.options.family == models::Family::decoder_only)
    throw TokenizerError(
        "the tokenizer ends every text with the end token, after which a language model does not "
        "continue it");
  if (framing.start && model.options.family == models::Family::encoder_decoder)
    throw TokenizerError(
        "the tokenizer begins a source with the start token, which Ablate does not");
  return framing;
}

}  // namespace

data::Tokenizers tokenizers_of(const HubTokenizer& files, const HubCheckpoint& model) {
  const tokenizer::ForeignFacts facts{.specials = model.special,
                                      .size = model.vocabulary,
                                      .vocabulary = files.vocabulary,
                                      .framing = framing_of(files, model),
                                      .cleans = files.cleans};
  const auto source = tokenizer::Tokenizer::foreign(files.source, facts);
  if (files.source == files.target) return {source, source};
  return {source, tokenizer::Tokenizer::foreign(files.target, facts)};
}

}  // namespace ablate::exchange
