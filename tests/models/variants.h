#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/options/transformer_options.h"

namespace ablate::models {

/// A small model with these keys of a study's `model`, "layers: 3, attention.heads: 4", under
/// `more` of them.
TransformerOptions tiny(const std::string& keys = "", const std::string& more = "");

using Variant = std::pair<std::string, TransformerOptions>;

/// The variants of a group of variants.yaml; of all groups: every option that changes the forward
/// pass, for properties that must hold for all of them.
const std::vector<Variant>& variants(const std::string& group);
const std::vector<Variant>& variants();

/// The tiny model with one thing changed.
template <class Change>
Variant changed(const std::string& name, Change&& change) {
  auto options = tiny();
  change(options);
  return {name, options};
}

/// Changes every layer of a side.
void change_layers(TransformerOptions& options, Side side, auto&& change) {
  for (auto& layer : own_layers(options, side)) change(layer);
}

/// Changes the layers with these numbers, from 1 on, of both sides.
void change_layers(TransformerOptions& options, const std::vector<size_t>& numbers, auto&& change) {
  for (const auto side : {Side::encoder, Side::decoder})
    for (const auto number : numbers) change(own_layers(options, side).at(number - 1));
}

/// Whether the weights of every query sum to 1.
inline bool weights_sum_to_one(const TransformerOptions& options) {
  const auto* heads = std::get_if<MultiHead>(&options.layer.attention);
  return heads == nullptr || (heads->score_function == ScoreFunction::softmax && !heads->sinks);
}

/// Other positions change how many rows an expert's products have, and with that their rounding;
/// nothing else is ever touched.
inline double rounding(const std::string& variant) {
  return variant.starts_with("experts") ? 1e-5 : 0.0;
}

}  // namespace ablate::models
