#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "data/tasks/generate.h"
#include "data/tasks/symbol_tasks.h"

namespace ablate::data {
namespace {

/// "a b" for every pair, in random order.
std::string shuffled_pairs(Random& random, std::vector<std::pair<int64_t, int64_t>> pairs) {
  random.shuffle(pairs);
  std::vector<int64_t> all;
  for (const auto& [from, to] : pairs) {
    all.push_back(from);
    all.push_back(to);
  }
  return join(all);
}

/// The nodes of a graph, numbered so that edges lead from a lower number to a higher one.
struct Dependencies {
  std::vector<int64_t> names;
  std::vector<std::vector<size_t>> needs;  // lower numbers

  /// `node` and the nodes that it needs, directly or not, in topological order; if several may come
  /// next, the first in the alphabet does.
  std::vector<int64_t> in_order(size_t node) const {
    std::vector<bool> needed(names.size());
    needed[node] = true;
    for (size_t i = node + 1; i-- > 0;)
      if (needed[i])
        for (const size_t lower : needs[i]) needed[lower] = true;
    std::vector<size_t> left(names.size());  // needs that are not written yet
    std::set<std::pair<int64_t, size_t>> next;
    for (size_t i = 0; i <= node; ++i) {
      left[i] = needs[i].size();
      if (needed[i] && left[i] == 0) next.emplace(names[i], i);
    }
    std::vector<int64_t> order;
    while (!next.empty()) {
      const auto [name, written] = *next.begin();
      next.erase(next.begin());
      order.push_back(name);
      for (size_t i = written + 1; i <= node; ++i)
        if (needed[i] && std::ranges::count(needs[i], written) > 0 && --left[i] == 0)
          next.emplace(names[i], i);
    }
    return order;
  }
};

}  // namespace

TaskGenerator Depo::generator() const {
  return sampled_by_length(*this, [task = *this](Random& random, int64_t length) {
    const auto cycle = different(random, length, task.symbols);
    std::vector<std::pair<int64_t, int64_t>> edges;
    const auto node = [&](int64_t place) { return cycle[static_cast<size_t>(place % length)]; };
    for (int64_t i = 0; i < length; ++i) edges.emplace_back(node(i), node(i + 1));
    const int64_t start = random.below(length), steps = random.between(1, task.hops);
    return Example{shuffled_pairs(random, std::move(edges)) + " ? " + std::to_string(steps) + " " +
                       symbol(node(start)),
                   symbol(node(start + steps))};
  });
}

TaskGenerator Brevo::generator() const {
  return sampled_by_length(*this, [task = *this](Random& random, int64_t length) {
    Dependencies graph{.names = different(random, length, task.symbols), .needs = {}};
    std::vector<std::pair<int64_t, int64_t>> edges;
    for (int64_t i = 0; i < length; ++i) {
      auto lower = different(random, std::min(i, random.between(i > 0 ? 1 : 0, task.needs)), i);
      graph.needs.emplace_back(lower.begin(), lower.end());
      for (const size_t need : graph.needs.back())
        edges.emplace_back(graph.names[need], graph.names[static_cast<size_t>(i)]);
    }
    // Nodes of the upper half have something to be written.
    const auto asked = static_cast<size_t>(random.between(length / 2, length - 1));
    return Example{shuffled_pairs(random, std::move(edges)) + " ? " + symbol(graph.names[asked]),
                   join(graph.in_order(asked))};
  });
}

TaskGenerator Mano::generator() const {
  return sampled_by_length(*this, [task = *this](Random& random, int64_t length) {
    std::string source;
    const auto value = [&](const auto& self, int64_t operations) -> int64_t {
      if (operations == 0) {
        const int64_t number = random.below(task.symbols);
        source += " " + std::to_string(number);
        return number;
      }
      constexpr std::array kSigns{'+', '-', '*'};
      const char sign = kSigns[static_cast<size_t>(random.below(std::ssize(kSigns)))];
      source += std::string(" ") + sign;
      const int64_t first = random.below(operations);  // operations of the left side
      const int64_t left = self(self, first), right = self(self, operations - 1 - first);
      const int64_t result = sign == '*' ? left * right : sign == '+' ? left + right : left - right;
      return (result % task.symbols + task.symbols) % task.symbols;
    };
    const int64_t result = value(value, length);
    return Example{source.substr(1), std::to_string(result)};
  });
}

}  // namespace ablate::data
