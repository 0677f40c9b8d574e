#pragma once

#include <algorithm>
#include <variant>

#include "models/transformer.h"
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
  const auto* mixture = std::get_if<models::MixtureOptions>(&options.feed_forward);
  return mixture != nullptr && (std::holds_alternative<models::SwitchRouter>(mixture->router) ||
                                std::holds_alternative<models::GshardRouter>(mixture->router) ||
                                std::holds_alternative<models::NoisyRouter>(mixture->router));
}

/// Whether any layer has a position scheme that reads the content. CUDA adds the gradients of these
/// schemes by atomics, in an order that varies.
inline bool adds_in_any_order(const models::TransformerOptions& options) {
  const auto in_any_order = [](const auto& layer) {
    return std::holds_alternative<models::Shaw>(layer.position) ||
           std::holds_alternative<models::TransformerXl>(layer.position) ||
           std::holds_alternative<models::Cope>(layer.position);
  };
  return in_any_order(options) || std::ranges::any_of(options.encoder, in_any_order) ||
         std::ranges::any_of(options.decoder, in_any_order);
}

/// Experts of a width for which CUDA multiplies groups.
inline models::TransformerOptions aligned(models::TransformerOptions options) {
  const auto align = [](auto& layer) {
    auto* mixture = std::get_if<models::MixtureOptions>(&layer.feed_forward);
    if (mixture != nullptr) mixture->d_hidden = 16;
  };
  align(options);
  for (auto* list : {&options.encoder, &options.decoder})
    for (auto& layer : *list) align(layer);
  return options;
}

}  // namespace ablate::training
