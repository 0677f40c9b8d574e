#include "experiments/report/chart/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/chart/png.h"
#include "experiments/report/chart/scale.h"
#include "tokenizer/text/digest.h"

namespace ablate::report {
namespace {

constexpr double kMapWidth = 360, kMapHeight = 240, kMapLeft = 40, kMapTop = 8, kMapBottom = 48,
                 kMapRight = 12;
constexpr int kSteps = 64;  // shades on either side of zero; the next colour is that of NaN

using Colour = std::array<uint8_t, 3>;
constexpr Colour kPaper = {0xf7, 0xf7, 0xf5}, kNone = {0xb4, 0xb8, 0xbd};
constexpr Colour kBelow = {0x00, 0x5a, 0x8c}, kAbove = {0xb8, 0x3a, 0x00};

Colour mixed(const Colour& from, const Colour& to, double share) {
  Colour result{};
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<uint8_t>(std::lround(from[i] + share * (to[i] - from[i])));
  return result;
}

std::vector<Colour> colours(Shades shades) {
  std::vector<Colour> palette;
  const auto& top = shades == Shades::diverging ? kAbove : kBelow;
  for (int i = -kSteps; i <= kSteps; ++i)
    palette.push_back(mixed(kPaper, i < 0 ? kBelow : top, std::abs(i) / double(kSteps)));
  palette.push_back(kNone);
  return palette;
}

Image image_of(const HeatMap& map, double largest) {
  Image image{
      .width = 1, .height = std::max<size_t>(1, map.rows.size()), .palette = colours(map.shades)};
  for (const auto& row : map.rows) image.width = std::max(image.width, row.size());
  image.pixels.assign(image.width * image.height, 2 * kSteps + 1);
  for (size_t r = 0; r < map.rows.size(); ++r)
    for (size_t c = 0; c < map.rows[r].size(); ++c) {
      const double share = largest > 0 ? map.rows[r][c] / largest : 0;
      if (std::isfinite(share))
        image.pixels[r * image.width + c] =
            static_cast<uint8_t>(kSteps + std::lround(kSteps * std::clamp(share, -1.0, 1.0)));
    }
  return image;
}

std::vector<Attribute> box(const char* kind, double y, double height) {
  return {{"class", kind},
          {"x", at(kMapLeft)},
          {"y", fmt::format("{:.2f}", y)},
          {"width", at(kMapWidth)},
          {"height", fmt::format("{:.2f}", height)}};
}

Markup row_titles(const HeatMap& map) {
  Markup rows;
  const double height = kMapHeight / static_cast<double>(map.row_titles.size());
  for (size_t r = 0; r < map.row_titles.size(); ++r)
    rows += element("rect", box("hover", kMapTop + static_cast<double>(r) * height, height),
                    element("title", {}, text(map.row_titles[r])));
  return rows;
}

}  // namespace

Markup draw(const HeatMap& map) {
  Extent extent;
  for (const auto& row : map.rows)
    for (const double number : row) extent.take(number);
  const double low = extent.any() ? extent.low() : 0, high = extent.any() ? extent.high() : 0;
  const auto image = image_of(map, map.full.value_or(std::max(std::abs(low), std::abs(high))));
  auto place = box("pixels", kMapTop, kMapHeight);
  place.push_back({"preserveAspectRatio", "none"});
  place.push_back({"href", "data:image/png;base64," + tokenizer::base64(png(image))});
  const double bottom = kMapTop + kMapHeight;
  const auto values = fmt::format("values from {} to {}", plain(low), plain(high));
  const double last = static_cast<double>(image.height - 1);
  auto picture = element("image", place) + row_titles(map) +
                 element("rect", box("frame", kMapTop, kMapHeight)) +
                 words(kMapLeft, bottom + 15, "tick", plain(map.x_first)) +
                 words(kMapLeft + kMapWidth, bottom + 15, "tick end", plain(map.x_last)) +
                 words(kMapLeft + kMapWidth / 2, bottom + 15, "label middle", map.x_label) +
                 words(kMapLeft - 5, kMapTop + 10, "tick end", "0") +
                 words(kMapLeft - 5, bottom, "tick end", plain(last)) +
                 words(kMapLeft + kMapWidth / 2, bottom + 36, "note middle", values);
  picture += element(
      "text",
      {{"class", "label middle"},
       {"transform", fmt::format("translate(14 {}) rotate(-90)", at(kMapTop + kMapHeight / 2))}},
      text(map.y_label));
  return svg("chart", {kMapLeft + kMapWidth + kMapRight, bottom + kMapBottom},
             fmt::format("{}: {}", map.title, values), picture);
}

}  // namespace ablate::report
