#include "experiments/plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace ablate::experiments {
namespace {

constexpr double kWidth = 320, kHeight = 240, kLeft = 48, kTop = 28, kBottom = 40, kRight = 12;

std::string text_at(double x, double y, const std::string& text, const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, escaped(text));
}

std::string open(const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n<title>{2}</title>\n{3}",
      kLeft + kWidth + kRight, kTop + kHeight + kBottom, escaped(title),
      text_at(kLeft, 16, title, "font-weight=\"bold\""));
}

std::string labels(const std::string& x, const std::string& y) {
  return text_at(kLeft + kWidth / 2, kTop + kHeight + 32, x, "text-anchor=\"middle\"") +
         text_at(14, kTop + kHeight / 2, y,
                 fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 14 {:.1f})\"",
                             kTop + kHeight / 2));
}

/// Smallest and largest of the finite numbers; {0, 0} without any.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double number) {
    if (!std::isfinite(number)) return;
    low = std::min(low, number);
    high = std::max(high, number);
  }
  Range known() const { return low <= high ? *this : Range{0, 0}; }
};

constexpr double kShades = 32;  // on either side of white

std::string colour(double number, double largest) {
  if (!std::isfinite(number)) return "#bbbbbb";
  const double exact = largest > 0 ? std::clamp(number / largest, -1.0, 1.0) : 0.0;
  const double share = std::round(exact * kShades) / kShades;
  const auto fade = static_cast<int>(std::lround(255 * (1 - std::abs(share))));
  return share < 0 ? fmt::format("#{:02x}{:02x}ff", fade, fade)
                   : fmt::format("#ff{:02x}{:02x}", fade, fade);
}

/// One path a colour, of cells 1 by 1: neighbours of a colour are one stroke of it.
std::string cells(const HeatMap& map, double largest) {
  std::map<std::string, std::string> paths;
  for (size_t r = 0; r < map.rows.size(); ++r)
    for (size_t c = 0, next = 0; c < map.rows[r].size(); c = next) {
      const auto ink = colour(map.rows[r][c], largest);
      for (next = c + 1; next < map.rows[r].size(); ++next)
        if (colour(map.rows[r][next], largest) != ink) break;
      if (ink != "#ffffff") paths[ink] += fmt::format("M{} {}h{}v1h-{}z", c, r, next - c, next - c);
    }
  std::string picture;
  for (const auto& [ink, path] : paths)
    picture += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", ink, path);
  return picture;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '<')
      result += "&lt;";
    else if (letter == '>')
      result += "&gt;";
    else if (letter == '&')
      result += "&amp;";
    else if (letter == '"')
      result += "&quot;";
    else
      result += letter;
  }
  return result;
}

std::string svg(const HeatMap& map) {
  Range range;
  size_t columns = 1;
  for (const auto& row : map.rows) {
    columns = std::max(columns, row.size());
    for (const double number : row) range.take(number);
  }
  range = range.known();
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  const double width = kWidth / static_cast<double>(columns);
  const double height = kHeight / static_cast<double>(std::max<size_t>(1, map.rows.size()));
  auto picture = open(map.title);
  picture += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#ffffff\" stroke=\"#999999\"/>\n"
      "<g transform=\"translate({} {}) scale({:.5f} {:.5f})\" "
      "shape-rendering=\"crispEdges\">\n{}</g>\n",
      kLeft, kTop, kWidth, kHeight, kLeft, kTop, width, height, cells(map, largest));
  picture += text_at(
      kLeft, kTop + kHeight + 14,
      fmt::format("0 to {} across; values {:.3g} to {:.3g}", columns - 1, range.low, range.high));
  return picture + labels(map.x_label, map.y_label) + "</svg>\n";
}

std::string svg(const LineChart& chart) {
  static constexpr std::array kColours = {"#1b6ca8", "#c0392b", "#27864a", "#8e44ad",
                                          "#b9770e", "#117a8b", "#5d6d7e", "#d35400"};
  Range range;
  size_t longest = 2;
  for (const auto& line : chart.lines) {
    longest = std::max(longest, line.numbers.size());
    for (const double number : line.numbers) range.take(number);
  }
  range = range.known();
  const double spread = range.high > range.low ? range.high - range.low : 1.0;
  auto picture = open(chart.title);
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    std::string points;
    for (size_t x = 0; x < chart.lines[i].numbers.size(); ++x)
      if (std::isfinite(chart.lines[i].numbers[x]))
        points +=
            fmt::format("{:.2f},{:.2f} ",
                        kLeft + kWidth * static_cast<double>(x) / static_cast<double>(longest - 1),
                        kTop + kHeight * (range.high - chart.lines[i].numbers[x]) / spread);
    const auto* ink = kColours[i % kColours.size()];
    picture += fmt::format("<polyline fill=\"none\" stroke=\"{}\" points=\"{}\"/>\n", ink, points);
    picture += text_at(kLeft + kWidth - 4, kTop + 12 + 13 * static_cast<double>(i),
                       chart.lines[i].name, fmt::format("text-anchor=\"end\" fill=\"{}\"", ink));
  }
  picture += text_at(
      kLeft, kTop + kHeight + 14,
      fmt::format("0 to {} across; values {:.3g} to {:.3g}", longest - 1, range.low, range.high));
  return picture + labels(chart.x_label, chart.y_label) + "</svg>\n";
}

}  // namespace ablate::experiments
