#pragma once

#include <algorithm>
#include <variant>

#include "models/feed_forward/feed_forward.h"
#include "models/transformer.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"

namespace ablate::training {

inline constexpr int64_t kVocabulary = 13;

inline models::Transformer model_of(const models::TransformerOptions& options,
                                    torch::Device device) {
  models::Transformer model(options, models::Vocabulary{kVocabulary, kVocabulary, tokenizer::kPad});
  models::initialize(*model, 1);
  model->to(device);
  return model;
}

/// Whether a router of the model draws noise in training, which differs from device to device.
inline bool draws_for_routing(const models::TransformerOptions& options) {
  const auto* mixture = std::get_if<models::MixtureOptions>(&options.layer.feed_forward);
  return mixture != nullptr && (std::holds_alternative<models::SwitchRouter>(mixture->router) ||
                                std::holds_alternative<models::GshardRouter>(mixture->router) ||
                                std::holds_alternative<models::NoisyRouter>(mixture->router));
}

/// Whether any layer has a position scheme that reads the content. CUDA adds the gradients of these
/// schemes by atomics, in an order that varies.
inline bool adds_in_any_order(const models::TransformerOptions& options) {
  const auto in_any_order = [](const models::LayerOptions& layer) {
    return std::holds_alternative<models::Shaw>(layer.position) ||
           std::holds_alternative<models::TransformerXl>(layer.position) ||
           std::holds_alternative<models::Cope>(layer.position);
  };
  return in_any_order(options.layer) || std::ranges::any_of(options.encoder, in_any_order) ||
         std::ranges::any_of(options.decoder, in_any_order);
}

/// Experts of a width for which CUDA multiplies groups.
inline models::TransformerOptions aligned(models::TransformerOptions options) {
  const auto align = [](models::LayerOptions& layer) {
    auto* mixture = std::get_if<models::MixtureOptions>(&layer.feed_forward);
    if (mixture != nullptr) mixture->d_hidden = 16;
  };
  align(options.layer);
  for (auto* list : {&options.encoder, &options.decoder})
    for (auto& layer : *list) align(layer);
  return options;
}

// Kernels of the two devices add in another order: relative differences of 1e-7 for one operation,
// of which a pass has about a hundred. Adam's epsilon keeps gradients that are nothing but rounding
// from becoming whole steps.
inline constexpr double kRounding = 2e-5;

/// The variants of every family: those that stand alone, too.
inline std::vector<models::Variant> all_variants() {
  auto all = models::variants();
  const std::string experts = "feed_forward: {kind: moe, experts: 4, active: 2, d_hidden: 12, ";
  for (const auto& [name, keys] : std::vector<std::pair<std::string, std::string>>{
           {"decoder", "family: decoder_only"},
           {"encoder", "family: encoder_only"},
           // Ids of so small a range have fewer distances than a target has pairs, but not than a
           // source has.
           {"randomized transformer_xl",
            "position: transformer_xl, position_ids: {kind: randomized, range: 12, longest: 12}"},
           // Three uses of every weight, so that the order in which their gradients are added
           // counts.
           {"one layer thrice", "layers: 3, share.layers: 1"},
           {"experts choose", experts + "router: expert_choice}, family: encoder_only"},
           {"limited experts", experts + "capacity: {kind: limited, factor: 1}}"},
           {"further heads", "output.ahead: 2"},
           {"further heads of a decoder", "output.ahead: 2, family: decoder_only"}})
    all.emplace_back(name, models::tiny(keys));
  return all;
}

/// How often a pass through the model, or a part of it, waits for the device: in float every
/// mixture does, for the ends of its experts' rows.
inline int64_t waits_of(const models::Transformer& model, bool bfloat16,
                        const std::string& part = "") {
  if (bfloat16) return 0;
  const auto modules = model->named_modules();
  return std::ranges::count_if(modules.pairs(), [&](const auto& item) {
    return item.first.starts_with(part) &&
           std::dynamic_pointer_cast<models::Mixture>(item.second) != nullptr;
  });
}

}  // namespace ablate::training
