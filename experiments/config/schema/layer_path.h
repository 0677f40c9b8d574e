#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/options/transformer_options.h"

namespace ablate::config {

/// A key of one layer, counted from 1: "norm.kind" of "model.encoder.3.norm.kind".
struct LayerPath {
  models::Side side;
  int64_t number;
  std::string key;  // empty: the whole layer
};

/// "model.encoder.3"
std::string section_of(models::Side side, int64_t number);
std::optional<LayerPath> parse_layer_path(std::string_view path);

/// A layer of a side, counted from 1.
using NumberedLayer = std::pair<models::Side, int64_t>;

/// "encoder layers 2 and 4, decoder layer 3"
std::string text_of(const std::vector<NumberedLayer>& layers);

}  // namespace ablate::config
