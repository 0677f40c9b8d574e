#include "experiments/config/study/arm.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr size_t kMostArms = 1000;
constexpr size_t kLongestName = 100;

bool name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') ||
         std::string_view("._=-").find(letter) != std::string_view::npos;
}

/// "0.004" of "4.0e-3": numbers have one spelling in names.
std::string plain_number(const Value& value) {
  if (value.quoted || parse_integer(value).value) return value.scalar;
  const auto number = parse_number(value).value;
  return number ? fmt::format("{}", *number) : value.scalar;
}

bool is_list_of_values(const Entry& axis, ProblemList& problems) {
  if (axis.value.type == Value::Type::list && !axis.value.items.empty()) return true;
  problems.add(axis.value.mark,
               fmt::format("grid {} must be a list of values", in_quotes(axis.key)));
  return false;
}

/// `point` with one more value of the grid.
Variation with(const Variation& point, const Entry& axis, const Value& value,
               ProblemList& problems) {
  Variation more = point;
  more.grid.push_back({axis.key, name_of(value)});
  more.mark = value.mark;
  put(more.layers.back(), {axis.key, axis.mark, nested(value, problems)}, Repeated::problem,
      problems);
  return more;
}

}  // namespace

std::string short_name(const std::string& path, const std::vector<Entry>& keys) {
  for (auto dot = path.rfind('.'); dot != std::string::npos && dot > 0;
       dot = path.rfind('.', dot - 1)) {
    const auto end = path.substr(dot);
    const auto has = [&](const Entry& key) { return ("." + key.key).ends_with(end); };
    if (std::ranges::count_if(keys, has) == 1) return end.substr(1);
  }
  return path;
}

std::string name_of(const Value& value) {
  std::string name;
  const auto add = [&](const Value& part) {
    name += fmt::format("{}{}", name.empty() ? "" : "_", name_of(part));
  };
  if (value.type == Value::Type::empty) return "none";
  for (const auto& item : value.items) add(item);
  for (const auto& entry : value.entries) add(entry.value);
  if (value.type == Value::Type::scalar)
    for (const char letter : plain_number(value))
      if (letter != '+') name += name_letter(letter) ? letter : '-';  // 1e+30 is not 1e-30
  return name;
}

void check_name(const std::string& name, const std::string& what, const Mark& mark,
                ProblemList& problems) {
  if (name.empty()) return problems.add(mark, fmt::format("the {} has no name", what));
  if (name.size() > kLongestName)
    return problems.add(mark, fmt::format("{} name {} is longer than {} characters", what,
                                          in_quotes(name), kLongestName));
  if (name == "." || name == ".." || !std::ranges::all_of(name, name_letter))
    problems.add(mark, fmt::format("{} name {} may hold only letters, digits, '.', '_', '=' and "
                                   "'-'",
                                   what, in_quotes(name)));
}

std::vector<Variation> variations(const Value& section, const std::string& what,
                                  ProblemList& problems) {
  std::vector<Variation> found;
  if (section.type != Value::Type::mapping || section.entries.empty()) {
    problems.add(section.mark, fmt::format("{0}s must be a mapping of {0} names to changes", what));
    return found;
  }
  for (const auto& entry : section.entries) {
    check_name(entry.key, what, entry.mark, problems);
    Value changes = entry.value;
    if (changes.type == Value::Type::empty) changes.type = Value::Type::mapping;
    if (changes.type != Value::Type::mapping)
      problems.add(changes.mark, fmt::format("{} {} must be a mapping of changes, not {}", what,
                                             in_quotes(entry.key), type_name(changes.type)));
    else
      found.push_back({entry.key, entry.mark, {nested(changes, problems)}});
  }
  return found;
}

std::vector<Variation> points_of(const Value& grid, ProblemList& problems) {
  if (grid.type != Value::Type::mapping || grid.entries.empty()) {
    problems.add(grid.mark, "grid must be a mapping of key paths to lists of values");
    return {};
  }
  const auto usable = [&](const Entry& axis) { return is_list_of_values(axis, problems); };
  if (std::ranges::count_if(grid.entries, usable) != std::ssize(grid.entries)) return {};
  std::vector<Variation> all(1);
  all.front().layers.push_back({.type = Value::Type::mapping, .mark = grid.mark});
  for (const auto& axis : grid.entries) {
    if (all.size() * axis.value.items.size() > kMostArms) {
      problems.add(axis.mark, fmt::format("the grid makes more than {} combinations", kMostArms));
      return {};
    }
    std::vector<Variation> next;
    for (const auto& point : all)
      for (const auto& value : axis.value.items) {
        next.push_back(with(point, axis, value, problems));
        auto& name = next.back().name;
        name += fmt::format("{}{}={}", name.empty() ? "" : "-", short_name(axis.key, grid.entries),
                            next.back().grid.back().value);
      }
    all = std::move(next);
  }
  std::set<std::string> taken;
  bool distinct = true;
  for (const auto& point : all) {
    check_name(point.name, "grid", point.mark, problems);
    if (taken.insert(point.name).second) continue;
    distinct = false;
    problems.add(point.mark, fmt::format("the grid names two points {}", in_quotes(point.name)));
  }
  return distinct ? all : std::vector<Variation>{};
}

std::vector<std::string> names_of(const std::vector<Variation>& variations) {
  std::vector<std::string> names;
  for (const auto& variation : variations) names.push_back(variation.name);
  return names;
}

const std::string& metric_of(const Comparison& comparison, const std::string& task) {
  const auto found = comparison.metrics.find(task);
  return found == comparison.metrics.end() ? comparison.metric : found->second;
}

int64_t count_primary_sets(const Comparison& comparison, const std::string& setting) {
  const auto named = comparison.test_sets.find(setting);
  const bool one = comparison.over != Over::none || named == comparison.test_sets.end();
  return one ? 1 : std::ssize(named->second);
}

ArmClaim claim_of(const Comparison& comparison, const std::string& task, const std::string& arm) {
  const auto own = comparison.arms.find(arm);
  auto claim = own == comparison.arms.end() ? comparison.claim : own->second;
  if (metric_of(comparison, task) == comparison.metric) return claim;
  claim.margin.reset();
  claim.forecast.reset();
  claim.published.reset();
  if (claim.kind && needs_margin(*claim.kind)) claim.kind.reset();
  return claim;
}

bool allows(const Comparison& comparison, Uneven uneven) {
  return std::ranges::find(comparison.allow, uneven) != comparison.allow.end();
}

}  // namespace ablate::config
