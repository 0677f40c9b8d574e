#include "data/tasks/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/random.h"
#include "data/tasks/symbol_tasks.h"

namespace ablate::data {

Corpus fact_table(const Facts& task, uint64_t seed) {
  Random random(seed, "facts");
  int64_t facts = 1;
  for (int64_t i = 0; i < task.key; ++i) facts *= task.symbols;
  std::vector<Example> all;
  for (int64_t fact = 0; fact < facts; ++fact) {
    std::vector<int64_t> key;
    for (int64_t i = 0, rest = fact; i < task.key; ++i, rest /= task.symbols)
      key.push_back(rest % task.symbols);
    all.push_back({join(key), symbol(random.below(task.symbols))});
  }
  Corpus corpus{.train = all, .validation = all};
  const double nats = static_cast<double>(facts) * std::log(static_cast<double>(task.symbols));
  corpus.tests.push_back({.name = Facts::test_name, .examples = std::move(all), .nats = nats});
  return corpus;
}

namespace {

using Permutation = std::vector<int64_t>;

std::vector<Permutation> permutations(int64_t things) {
  Permutation order(static_cast<size_t>(things));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Permutation> all{order};
  while (std::ranges::next_permutation(order).found) all.push_back(order);
  return all;
}

Example entry(int64_t left, int64_t right, int64_t result) {
  return {join({left, right}), symbol(result)};
}

/// left after right, for all pairs; a symbol is a permutation's index in lexicographic order.
std::vector<Example> compositions(int64_t things) {
  const auto all = permutations(things);
  const auto number = [&](const Permutation& one) {
    return std::ranges::lower_bound(all, one) - all.begin();
  };
  std::vector<Example> table;
  for (const auto& left : all)
    for (const auto& right : all) {
      Permutation both;
      for (const auto at : right) both.push_back(left[static_cast<size_t>(at)]);
      table.push_back(entry(number(left), number(right), number(both)));
    }
  return table;
}

/// A quotient times the right number is the left number, so the table of divisions is that of
/// products, read the other way.
std::vector<Example> residues(const Table& task) {
  std::vector<Example> table;
  const int64_t m = task.modulus;
  for (int64_t a = 0; a < m; ++a)
    for (int64_t b = 0; b < m; ++b) switch (task.operation) {
        case TableOperation::add:
          table.push_back(entry(a, b, (a + b) % m));
          break;
        case TableOperation::subtract:
          table.push_back(entry(a, b, (a - b + m) % m));
          break;
        case TableOperation::divide:
          if (b != 0) table.push_back(entry(a * b % m, b, a));
          break;
        case TableOperation::multiply:
          table.push_back(entry(a, b, a * b % m));
          break;
        case TableOperation::permute:  // compositions()
          break;
      }
  return table;
}

}  // namespace

Corpus operation_table(const Table& task, uint64_t seed) {
  auto table =
      task.operation == TableOperation::permute ? compositions(task.modulus) : residues(task);
  Random random(seed, "table");
  random.shuffle(table);
  const auto trained = std::llround(task.share * static_cast<double>(table.size()));
  const auto tested = trained + (std::ssize(table) - trained) / 2;
  const auto part = [&](auto begin, auto end) {
    return std::vector<Example>(table.begin() + begin, table.begin() + end);
  };
  Corpus corpus{.train = part(0, trained), .validation = part(tested, std::ssize(table))};
  corpus.tests.push_back({.name = Table::test_name, .examples = part(trained, tested)});
  if (trained == 0 || tested == trained)
    throw DataError("data.share leaves too few of the table's " + std::to_string(table.size()) +
                    " entries for training, validation or test");
  return corpus;
}

}  // namespace ablate::data
