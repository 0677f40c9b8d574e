#pragma once

#include <cstdint>
#include <vector>

namespace ablate::statistics {

/// The variance that each side of a table, and everything else, adds to its values.
struct Components {
  double rows = 0, columns = 0, rest = 0;

  double total() const { return rows + columns + rest; }

  /// The variance of the mean of a table of so many rows and columns.
  double of_mean(int64_t row_count, int64_t column_count) const;
};

/// Of value = mean + effect of its row + effect of its column + rest, all random and independent:
/// the two-way analysis of variance without replication, by the method of moments. A component
/// whose estimate is negative is 0. REQUIRES: two rows or more, as long as each other, of two
/// finite values or more.
Components components_of(const std::vector<std::vector<double>>& table);

/// A table's numbers of rows and columns.
struct TableSize {
  int64_t rows = 0, columns = 0;
  bool operator==(const TableSize&) const = default;
};

/// Of the tables with as many values, and two rows and columns or more, the one whose mean varies
/// least; `given` itself if none varies less.
TableSize best_size(const Components& components, const TableSize& given);

}  // namespace ablate::statistics
