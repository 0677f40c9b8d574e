#include "experiments/study/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ablate::experiments {
namespace {

std::string printed(const std::vector<Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) {
    if (!text.empty()) text += "\n";
    text +=
        fmt::format("{}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message);
    if (!problem.text.empty())
      text += fmt::format("\n  {}\n  {}^", problem.text,
                          std::string(static_cast<size_t>(std::max(problem.column - 1, 0)), ' '));
  }
  return text;
}

auto position(const Problem& problem) {
  return std::tie(problem.file, problem.line, problem.column);
}

std::vector<Problem> sorted(std::vector<Problem> problems) {
  std::ranges::stable_sort(
      problems, [](const Problem& a, const Problem& b) { return position(a) < position(b); });
  return problems;
}

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

ConfigError::ConfigError(std::vector<Problem> all)
    : std::runtime_error(printed(sorted(all))), problems(sorted(std::move(all))) {}

void Problems::add(const Place& place, std::string message) {
  const auto& lines = place.source->lines;
  const auto index = static_cast<size_t>(place.line - 1);
  Problem problem{place.source->name, place.line, place.column, std::move(message),
                  index < lines.size() ? lines[index] : ""};
  const bool known = std::ranges::any_of(all_, [&](const Problem& one) {
    return position(one) == position(problem) && one.message == problem.message;
  });
  if (!known) all_.push_back(std::move(problem));
}

void Problems::check() const {
  if (!all_.empty()) throw ConfigError(all_);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  size_t nearest = std::max<size_t>(2, word.size() / 3) + 1;
  const std::string* best = nullptr;
  for (const auto& candidate : known) {
    const size_t far = distance(word, candidate);
    if (far < nearest && far < std::max(word.size(), candidate.size())) {
      nearest = far;
      best = &candidate;
    }
  }
  return best == nullptr ? "" : fmt::format("; did you mean '{}'?", *best);
}

}  // namespace ablate::experiments
