#include "experiments/exchange/huggingface/family.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/config/schema/rules.h"
#include "experiments/exchange/huggingface/family_code.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/field_table.h"
#include "experiments/exchange/huggingface/rotary_fields.h"

namespace ablate::exchange {
namespace {

tokenizer::SpecialIds special_ids(ConfigFields& config) {
  return {.pad = config.find_id("pad_token_id"),
          .bos = config.find_id("bos_token_id"),
          .eos = config.find_id("eos_token_id"),
          .unk = {},
          .mask = {}};
}

/// The family's options without dropout, for a model that is only used; a study that trains it
/// further sets its own.
models::TransformerOptions begun(models::TransformerOptions options) {
  options.embedding_scale = false;
  options.dropout = 0;
  options.initialization = models::NormalInitialization{{}, 0.02};
  return options;
}

std::string family_in(ConfigFields& config) {
  const auto type = config.get<std::string>("model_type");
  const auto known = known_families();
  if (!std::ranges::count(known, type))
    config.refuse("model_type",
                  fmt::format("is '{}'; Ablate reads {}", type, fmt::join(known, ", ")));
  return type;
}

void read_table(ConfigFields& config, const FamilyMap& map, models::TransformerOptions& o) {
  read_fields(config, map.fields, options::slot_of(o));
  if (auto* rotary = std::get_if<models::Rotary>(&o.layer.position))
    *rotary = rotary_of(config, map.rotary, o.d_model / models::head_count(o.layer.attention));
}

/// Throws CheckpointError for a field whose value the family does not allow, and for one that is
/// not read.
void finish(ConfigFields& config, const FamilyMap& map) {
  auto fixed = map.fixed;
  fixed.insert(map.written.begin(), map.written.end());
  for (const auto& name : map.without_effect) fixed.erase(name);
  config.expect_all(fixed);
  config.skip(map.without_effect);
  config.skip({"architectures"});
  config.finish();
}

}  // namespace

HubModel read_family(ConfigFields& config, const std::set<std::string>& tensors) {
  const auto family = family_in(config);
  const auto& map = family_map(family);
  const auto vocabulary = config.find_size("vocab_size");
  if (!vocabulary) config.refuse("vocab_size", "is missing");
  HubModel model{.family = family,
                 .options = begun(map.model),
                 .vocabulary = *vocabulary,
                 .special = special_ids(config)};
  read_table(config, map, model.options);
  family_code(family).read({config, map, tensors, model});
  finish(config, map);
  require_rules(options::slot_of(model.options), "model", config.source());
  return model;
}

void require_rules(const options::ConstSlot& options, const std::string& section,
                   const std::string& source) {
  std::vector<config::BrokenRule> broken;
  config::collect_broken_rules(options, section, broken);
  if (broken.empty()) return;
  const auto& [place, key, why] = broken.front();
  throw training::CheckpointError(
      fmt::format("{}: describes a model that Ablate cannot make: {} {}", source,
                  config::join_path(place, key), why));
}

}  // namespace ablate::exchange
