#include "tokenizer/foreign.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tokenizer/huggingface/tokenizer_json.h"
#include "tokenizer/piece_model.h"

namespace ablate::tokenizer {
namespace {

using nlohmann::json;

constexpr std::string_view kFirstLine = "ablate tokenizer ";
constexpr const char *kStarts = "starts", *kEnds = "ends", *kCleans = "cleans";

struct Role {
  const char* name;
  std::optional<int32_t> SpecialIds::*id;
  const char* key;    // in tokenizer_config.json
  const char* other;  // if that is absent
};
constexpr std::array<Role, 5> kRoles = {{{"pad", &SpecialIds::pad, "pad_token", nullptr},
                                         {"bos", &SpecialIds::bos, "bos_token", "cls_token"},
                                         {"eos", &SpecialIds::eos, "eos_token", "sep_token"},
                                         {"unk", &SpecialIds::unk, "unk_token", nullptr},
                                         {"mask", &SpecialIds::mask, "mask_token", nullptr}}};

/// "bos_token": "<s>" or {"content": "<s>", ...}; none if it is absent or null.
std::optional<std::string> token_of(const json& config, const char* key) {
  const auto found = key == nullptr ? config.end() : config.find(key);
  if (found == config.end() || found->is_null()) return std::nullopt;
  return (found->is_object() ? found->at("content") : *found).get<std::string>();
}

ForeignFacts read_facts(std::string_view line) {
  try {
    const auto tree = json::parse(line);
    ForeignFacts facts;
    for (const auto& role : kRoles)
      if (tree.contains(role.name)) facts.specials.*role.id = tree[role.name].get<int32_t>();
    if (tree.contains("size")) facts.size = tree["size"].get<int64_t>();
    if (tree.contains("vocabulary")) tree["vocabulary"].get_to(facts.vocabulary);
    if (tree.contains(kStarts))
      facts.framing = {.start = tree[kStarts].get<bool>(), .end = tree.at(kEnds).get<bool>()};
    facts.cleans = tree.value(kCleans, false);
    return facts;
  } catch (const json::exception&) {
    throw TokenizerError("not a usable tokenizer: its first line is damaged");
  }
}

}  // namespace

std::string with_facts(const ForeignFacts& facts, std::string_view file) {
  auto tree = json::object();
  for (const auto& role : kRoles)
    if (const auto& id = facts.specials.*role.id) tree[role.name] = *id;
  if (facts.size) tree["size"] = *facts.size;
  if (!facts.vocabulary.empty()) tree["vocabulary"] = facts.vocabulary;
  if (facts.framing) tree.update({{kStarts, facts.framing->start}, {kEnds, facts.framing->end}});
  if (facts.cleans) tree[kCleans] = true;
  return std::string(kFirstLine) + tree.dump() + "\n" + std::string(file);
}

ForeignFile divided(std::string_view bytes) {
  if (!bytes.starts_with(kFirstLine)) return {.facts = {}, .file = bytes};
  const auto end = bytes.find('\n');
  if (end == std::string_view::npos)
    throw TokenizerError("not a usable tokenizer: it ends within its first line");
  return {.facts = read_facts(bytes.substr(kFirstLine.size(), end - kFirstLine.size())),
          .file = bytes.substr(end + 1)};
}

bool is_json(std::string_view file) { return file.starts_with('{'); }

SpecialIds named_specials(std::string_view tokenizer_config,
                          const std::map<std::string, int32_t>& ids) {
  SpecialIds specials;
  try {
    const auto config = json::parse(tokenizer_config);
    for (const auto& role : kRoles) {
      auto name = token_of(config, role.key);
      if (!name) name = token_of(config, role.other);
      if (!name) continue;
      const auto id = ids.find(*name);
      if (id == ids.end())
        throw TokenizerError("the tokenizer has no token '" + *name + "', which is the " +
                             role.key + " of its configuration");
      specials.*role.id = id->second;
    }
  } catch (const json::exception&) {
    throw TokenizerError("its configuration does not name the special tokens as strings");
  }
  return specials;
}

std::optional<int32_t> unknown_in(std::string_view tokenizer_json) {
  return huggingface::TokenizerJson(tokenizer_json).unknown_id();
}

Surroundings surroundings_of(std::string_view tokenizer_json) {
  constexpr int32_t kText = -1;
  const auto framed = huggingface::TokenizerJson(tokenizer_json).framed({kText});
  const auto text = std::ranges::find(framed, kText);
  if (text == framed.end())
    throw TokenizerError("not a usable tokenizer.json: its post_processor leaves the text out");
  return {.before = {framed.begin(), text}, .behind = {text + 1, framed.end()}};
}

std::map<std::string, int32_t> token_ids(std::string_view file) {
  std::map<std::string, int32_t> ids;
  if (!is_json(file)) {
    int32_t id = 0;
    auto model = read_piece_model(file);
    for (auto& piece : model.pieces) ids.emplace(std::move(piece.text), id++);
    return ids;
  }
  const huggingface::TokenizerJson tokenizer(file);
  for (int32_t id = 0; id < tokenizer.vocabulary_size(); ++id)
    if (auto token = tokenizer.token(id)) ids.emplace(*std::move(token), id);
  return ids;
}

}  // namespace ablate::tokenizer
