#include "experiments/config/layer_path.h"

#include <fmt/format.h>

#include <charconv>

namespace ablate::config {
namespace {

/// "encoder layers 2, 4 and 6"
std::string listed(models::Side side, const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ", numbers[i]);
  return fmt::format("{} {} {}", text_of(side), numbers.size() == 1 ? "layer" : "layers", text);
}

}  // namespace

std::string section_of(models::Side side, int64_t number) {
  return fmt::format("model.{}.{}", text_of(side), number);
}

std::optional<LayerPath> parse_layer_path(std::string_view path) {
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    const auto prefix = fmt::format("model.{}.", text_of(side));
    if (!path.starts_with(prefix)) continue;
    LayerPath found{.side = side, .number = 0, .key = {}};
    const auto* end = path.data() + path.size();
    const auto [rest, error] = std::from_chars(path.data() + prefix.size(), end, found.number);
    if (error != std::errc() || (rest != end && *rest != '.')) return {};
    if (rest != end) found.key.assign(rest + 1, end);
    return found;
  }
  return {};
}

std::string LayerNumbers::text() const {
  std::string text;
  if (!encoder.empty()) text = listed(models::Side::encoder, encoder);
  if (!decoder.empty()) text += (text.empty() ? "" : ", ") + listed(models::Side::decoder, decoder);
  return text;
}

}  // namespace ablate::config
