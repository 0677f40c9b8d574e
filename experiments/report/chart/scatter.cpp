#include "experiments/report/chart/scatter.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/report/chart/axes.h"

namespace ablate::report {
namespace {

constexpr double kWidth = 320, kHeight = 220, kRight = 312, kTop = 12, kBottom = 174;
constexpr double kDot = 2.2;

bool is_finite(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

Scale axis_scale(const Extent& extent, double factor) {
  if (!extent.any() || extent.low() <= 0 || extent.high() <= factor * extent.low())
    return extent.padded(0.08);
  return {extent.low() / 1.25, extent.high() * 1.25, true};
}

Frame frame_of(const Scatter& chart) {
  Extent x, y;
  bool whole = true;
  const auto take = [&](const Point& point) {
    if (!is_finite(point)) return;
    whole = whole && point.x == std::round(point.x);
    x.take(point.x);
    y.take(point.y);
  };
  for (const auto& cloud : chart.clouds) {
    take(cloud.mean);
    for (const auto& point : cloud.points) take(point);
  }
  const auto y_axis = axis_scale(y, 30);
  const double left = left_beside(y_axis);
  return {.left = left,
          .right = kRight,
          .top = kTop,
          .bottom = kBottom,
          .x = axis_scale(x, 5).over(left, kRight),
          .y = Scale(y_axis).over(kBottom, kTop),
          .x_label = chart.x_label,
          .y_label = chart.y_label,
          .whole = whole,
          .ticks = 4};
}

Markup draw_cloud(const Frame& frame, const Cloud& cloud) {
  Markup drawn;
  for (const auto& point : cloud.points)
    if (is_finite(point))
      drawn += element("circle", {{"class", "dot"},
                                  {"cx", at(frame.x.place(point.x))},
                                  {"cy", at(frame.y.place(point.y))},
                                  {"r", at(kDot)}});
  if (is_finite(cloud.mean))
    drawn += marker(cloud.look, frame.x.place(cloud.mean.x), frame.y.place(cloud.mean.y),
                    fmt::format("{}: {} at {} {}", shown(cloud.name, 60), plain(cloud.mean.y),
                                large(cloud.mean.x), frame.x_label));
  return element("g", {{"class", cloud.look.colour_class()}}, drawn);
}

}  // namespace

Markup draw(const Scatter& chart) {
  const auto frame = frame_of(chart);
  auto picture = axes(frame);
  for (const auto& cloud : chart.clouds) picture += draw_cloud(frame, cloud);
  return svg("chart", {kWidth, kHeight}, chart.title + "; the numbers are in the tables above",
             picture);
}

}  // namespace ablate::report
