#pragma once

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
