#include "experiments/report/chart/strip.h"

#include <fmt/format.h>

#include <cmath>

namespace ablate::report {
namespace {

constexpr double kStripWidth = 108, kStripHeight = 26, kStripMiddle = kStripHeight / 2,
                 kStripInset = 6;

Scale scale_of(const Extent& extent) {
  return extent.padded(0.02).over(kStripInset, kStripWidth - kStripInset);
}

std::string value_of(const Strip& strip, size_t i) {
  const auto value = strip.values[i];
  return strip.names[i] + ": " +
         (strip.zero ? difference(value, {}, strip.metric) : score(value, strip.metric));
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
  if (strip.interval) extent.take(*strip.interval);
  if (strip.zero) extent.take(0);
}

Markup draw(const Strip& strip, const Extent& extent) {
  const auto x = scale_of(extent);
  Markup picture =
      path("grid", fmt::format("M{} {}H{}", kStripInset, kStripMiddle, kStripWidth - kStripInset));
  if (strip.zero)
    picture += path("edge", fmt::format("M{} 1V{}", at(x.place(0)), kStripHeight - 1));
  if (strip.interval && std::isfinite(strip.interval->low))
    picture += path("interval", fmt::format("M{} {}H{}", at(x.place(strip.interval->low)),
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
    picture += path("mean", fmt::format("M{} 3V{}", at(x.place(strip.mean)), kStripHeight - 3));
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

}  // namespace ablate::report
