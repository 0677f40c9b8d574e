#include "experiments/analysis/statistics/student.h"

#include <cmath>
#include <numbers>

namespace ablate::statistics {
namespace {

/// P(|t| <= sqrt(degrees) tan(angle)) as a series in the angle's cosine (Abramowitz and Stegun
/// 1964, 26.7.3, 26.7.4), of which the probability takes the first terms and the tail all others.
class StudentSeries {
 public:
  StudentSeries(double angle, int64_t degrees)
      : angle_(angle),
        sine_(std::sin(angle)),
        cosine_(std::cos(angle)),
        odd_(degrees % 2 == 1),
        degrees_(degrees),
        power_(odd_ ? 1 : 0),
        term_(odd_ ? cosine_ : 1) {}

  double within() {
    double sum = 0;
    for (; power_ <= degrees_ - 2; advance()) sum += term_;
    return odd_ ? 2 / std::numbers::pi * (angle_ + sine_ * sum) : sine_ * sum;
  }

  /// After within(): the same less 1, without its loss of digits.
  double beyond() {
    double sum = 0;
    for (; sum + term_ > sum; advance()) sum += term_;
    return (odd_ ? 2 / std::numbers::pi : 1) * sine_ * sum;
  }

 private:
  void advance() {
    term_ *= cosine_ * cosine_ * static_cast<double>(power_ + 1) / static_cast<double>(power_ + 2);
    power_ += 2;
  }

  double angle_, sine_, cosine_;
  bool odd_;
  int64_t degrees_, power_;
  double term_;
};

}  // namespace

double t_quantile(int64_t degrees, double confidence) {
  double low = 0, high = std::numbers::pi / 2;
  for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2)
    (StudentSeries(middle, degrees).within() < confidence ? low : high) = middle;
  return std::sqrt(static_cast<double>(degrees)) * std::tan(high);
}

double t_tail(double t, int64_t degrees) {
  const double tangent = std::abs(t) / std::sqrt(static_cast<double>(degrees));
  StudentSeries series(std::atan(tangent), degrees);
  const double within = series.within();
  return within < 0.999 ? 1 - within : series.beyond();
}

}  // namespace ablate::statistics
