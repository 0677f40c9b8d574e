#include "experiments/report/chart/heat_map.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

#include "experiments/report/chart/scale.h"
#include "experiments/report/markup.h"

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
  Image image{.width = 1,
              .height = std::max<size_t>(1, map.rows.size()),
              .palette = colours(map.shades),
              .pixels = {}};
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
  place.push_back({"href", "data:image/png;base64," + base64(png(image))});
  const double bottom = kMapTop + kMapHeight;
  const double last = static_cast<double>(image.height - 1);
  auto picture = element("image", place) + row_titles(map) +
                 element("rect", box("frame", kMapTop, kMapHeight)) +
                 words(kMapLeft, bottom + 15, "tick", plain(map.x_first)) +
                 words(kMapLeft + kMapWidth, bottom + 15, "tick end", plain(map.x_last)) +
                 words(kMapLeft + kMapWidth / 2, bottom + 15, "label middle", map.x_label) +
                 words(kMapLeft - 5, kMapTop + 10, "tick end", "0") +
                 words(kMapLeft - 5, bottom, "tick end", plain(last)) +
                 words(kMapLeft + kMapWidth / 2, bottom + 36, "note middle",
                       fmt::format("values from {} to {}", plain(low), plain(high)));
  picture += element(
      "text",
      {{"class", "label middle"},
       {"transform", fmt::format("translate(14 {}) rotate(-90)", at(kMapTop + kMapHeight / 2))}},
      text(map.y_label));
  return element(
      "svg",
      {{"class", "chart"},
       {"viewBox", fmt::format("0 0 {} {}", kMapLeft + kMapWidth + kMapRight,
                               kMapTop + kMapHeight + kMapBottom)},
       {"role", "img"},
       {"aria-label", fmt::format("{}: values from {} to {}", map.title, plain(low), plain(high))}},
      picture);
}

namespace {

constexpr double kStripWidth = 108, kStripHeight = 26, kStripMiddle = kStripHeight / 2,
                 kStripInset = 6;

Scale scale_of(const Extent& extent) {
  return extent.padded(0.02).over(kStripInset, kStripWidth - kStripInset);
}

Markup strip_rule(const char* kind, const std::string& path) {
  return element("path", {{"class", kind}, {"d", path}});
}

std::string value_of(const Strip& strip, size_t i) {
  return strip.names[i] + ": " + (strip.zero ? difference : score)(strip.values[i], strip.metric);
}

std::string spoken(const Strip& strip) {
  std::string all;
  for (size_t i = 0; i < strip.values.size(); ++i)
    if (std::isfinite(strip.values[i])) all += (all.empty() ? "" : ", ") + value_of(strip, i);
  return all;
}

}  // namespace

void take(Extent& extent, const Strip& strip) {
  for (const double value : strip.values) extent.take(value);
  extent.take(strip.mean);
  if (strip.interval) {
    extent.take(strip.interval->low);
    extent.take(strip.interval->high);
  }
  if (strip.zero) extent.take(0);
}

Markup draw(const Strip& strip, const Extent& extent) {
  const auto x = scale_of(extent);
  Markup picture = strip_rule(
      "grid", fmt::format("M{} {}H{}", kStripInset, kStripMiddle, kStripWidth - kStripInset));
  if (strip.zero)
    picture += strip_rule("edge", fmt::format("M{} 1V{}", at(x.place(0)), kStripHeight - 1));
  if (strip.interval && std::isfinite(strip.interval->low))
    picture += strip_rule("interval", fmt::format("M{} {}H{}", at(x.place(strip.interval->low)),
                                                  kStripMiddle, at(x.place(strip.interval->high))));
  for (size_t i = 0, drawn = 0; i < strip.values.size(); ++i) {
    if (!std::isfinite(strip.values[i])) continue;
    const double aside = static_cast<double>(drawn++ % 3) - 1;  // equal values stay visible
    picture += element("circle",
                       {{"class", "dot"},
                        {"cx", at(x.place(strip.values[i]))},
                        {"cy", at(kStripMiddle + 5 * aside)},
                        {"r", "2.6"}},
                       element("title", {}, text(value_of(strip, i))));
  }
  if (std::isfinite(strip.mean))
    picture +=
        strip_rule("mean", fmt::format("M{} 3V{}", at(x.place(strip.mean)), kStripHeight - 3));
  return element("svg",
                 {{"class", "strip " + strip.look.colour_class()},
                  {"viewBox", fmt::format("0 0 {} {}", kStripWidth, kStripHeight)},
                  {"width", at(kStripWidth)},
                  {"height", at(kStripHeight)},
                  {"role", "img"},
                  {"aria-label", spoken(strip)}},
                 picture);
}

Markup strip_axis(const Extent& extent, const std::string& metric) {
  if (!extent.any()) return {};
  if (extent.low() == extent.high())
    return element("span", {{"class", "ends one"}},
                   element("span", {}, text(score(extent.low(), metric))));
  return element("span", {{"class", "ends"}},
                 element("span", {}, text(score(extent.low(), metric))) +
                     element("span", {}, text(score(extent.high(), metric))));
}

namespace {

std::string big_endian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFFU);
  return bytes;
}

std::string chunk(const std::string& kind, const std::string& data) {
  const auto body = kind + data;
  const auto check =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body +
         big_endian(static_cast<uint32_t>(check));
}

std::string deflated(const std::string& bytes) {
  auto size = compressBound(bytes.size());
  std::string result(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 9);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK) throw std::runtime_error("zlib cannot compress a picture");
  result.resize(size);
  return result;
}

}  // namespace

std::string png(const Image& image) {
  std::string colours, rows;
  for (const auto& colour : image.palette) colours.append(colour.begin(), colour.end());
  for (size_t row = 0; row < image.height; ++row) {
    rows += '\0';  // no filter
    const auto first = image.pixels.begin() + static_cast<ptrdiff_t>(row * image.width);
    rows.append(first, first + static_cast<ptrdiff_t>(image.width));
  }
  const std::string header = big_endian(static_cast<uint32_t>(image.width)) +
                             big_endian(static_cast<uint32_t>(image.height)) +
                             std::string("\x08\x03\0\0\0", 5);  // 8 bits, of a palette
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("PLTE", colours) +
         chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k)
      three = three << 8U | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k)
      result += i + k > bytes.size() ? '=' : kLetters[three >> (18 - 6 * k) & 63U];
  }
  return result;
}

}  // namespace ablate::report
