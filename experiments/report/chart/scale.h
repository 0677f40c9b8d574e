#pragma once

#include <string>
#include <vector>

namespace ablate::report {

/// From numbers to places along an axis.
class Scale {
 public:
  /// Numbers from `low` to `high` lie between the places `from` and `to`, those beyond them beyond.
  /// `logarithmic` REQUIRES low > 0.
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
  bool any() const { return low_ <= high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  /// With a margin of the share `margin` of the range on both sides; a range of one number,
  /// or of some that differ by rounding, gets some width.
  Scale padded(double margin) const;

 private:
  double low_ = 1, high_ = 0;
};

}  // namespace ablate::report
