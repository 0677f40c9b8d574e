#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"
#include "experiments/report/chart/palette.h"
#include "experiments/report/markup.h"

namespace ablate::report {

/// Maps numbers to coordinates along an axis.
class Scale {
 public:
  /// Maps `low` to `from` and `high` to `to`, and other numbers beyond them. `logarithmic` REQUIRES
  /// low > 0.
  Scale(double low, double high, bool logarithmic = false);
  Scale& over(double from, double to);

  double place(double number) const;
  /// Round numbers in the range: about `wanted` of them.
  std::vector<double> ticks(int wanted) const;
  bool logarithmic() const { return logarithmic_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_, high_;
  bool logarithmic_;
  double from_ = 0, to_ = 1;
};

/// The smallest and the largest of the finite numbers among those taken.
class Extent {
 public:
  void take(double number);
  void take(const statistics::Interval& ends);
  bool any() const { return low_ <= high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  /// The scale with a margin of `margin` times its range on both sides; a range of one number, or
  /// of numbers that differ by rounding, gets some width.
  Scale padded(double margin) const;

 private:
  double low_ = 1, high_ = 0;
};

/// How one arm is drawn everywhere on the page: a colour of the palette, and a marker and a dash
/// that together no other of the first 32 arms has. Arm 0 has the colour of the text.
struct Look {
  size_t arm = 0;

  std::string colour_class() const;  // "c0" ...: sets --c
  std::string dashes() const;        // of stroke-dasharray; "none": solid
  size_t marker() const;
};

constexpr size_t kMarkers = 8, kDashes = 4;

/// A marker around (x, y); `title` is its tooltip.
Markup marker(const Look& look, double x, double y, const std::string& title = "");

/// A short line with its marker, as in a legend.
Markup swatch(const Look& look);

/// A coordinate of a picture.
std::string at(double coordinate);

/// A path along `d`, styled by the class `kind`.
Markup path(const char* kind, const std::string& d);

struct Size {
  double width, height;
};

/// A picture of the class `kind`, which a screen reader reads as `spoken`.
Markup svg(const char* kind, const Size& size, const std::string& spoken, const Markup& content);

/// Text in a picture, styled by the class `kind`.
Markup words(double x, double y, const char* kind, const std::string& what);

}  // namespace ablate::report
