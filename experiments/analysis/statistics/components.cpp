#include "experiments/analysis/statistics/components.h"

#include <algorithm>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {
namespace {

double square(double value) { return value * value; }

/// The sum of squares around `centre`.
double squares(const std::vector<double>& values, double centre) {
  double sum = 0;
  for (const double value : values) sum += square(value - centre);
  return sum;
}

}  // namespace

double Components::of_mean(int64_t row_count, int64_t column_count) const {
  const auto a = static_cast<double>(row_count), b = static_cast<double>(column_count);
  return rows / a + columns / b + rest / (a * b);
}

Components components_of(const std::vector<std::vector<double>>& table) {
  std::vector<double> row_means, column_means(table.front().size());
  const auto a = static_cast<double>(table.size());
  const auto b = static_cast<double>(column_means.size());
  for (const auto& row : table) {
    row_means.push_back(mean(row));
    for (size_t j = 0; j < row.size(); ++j) column_means[j] += row[j] / a;
  }
  const double centre = mean(row_means);
  double rest = 0;
  for (size_t i = 0; i < table.size(); ++i)
    for (size_t j = 0; j < column_means.size(); ++j)
      rest += square(table[i][j] - row_means[i] - column_means[j] + centre);
  rest /= (a - 1) * (b - 1);
  // The mean squares have the expectations rest + b * rows, rest + a * columns and rest.
  return {.rows = std::max(0.0, squares(row_means, centre) / (a - 1) - rest / b),
          .columns = std::max(0.0, squares(column_means, centre) / (b - 1) - rest / a),
          .rest = rest};
}

TableSize best_size(const Components& components, const TableSize& given) {
  auto best = given;
  const int64_t values = given.rows * given.columns;
  for (int64_t rows = 2; 2 * rows <= values; ++rows)
    if (values % rows == 0 &&
        components.of_mean(rows, values / rows) < components.of_mean(best.rows, best.columns))
      best = {rows, values / rows};
  return best;
}

}  // namespace ablate::statistics
