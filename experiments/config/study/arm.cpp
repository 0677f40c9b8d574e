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

/// The point of the grid with this value of each key.
Variation point_with(const Combination& values, const Value& grid, ProblemList& problems) {
  Variation point{.layers = {{.type = Value::Type::mapping, .mark = grid.mark}}};
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& axis = grid.entries[i];
    point.mark = values[i].mark;
    point.grid.push_back({axis.key, name_of(values[i])});
    point.name += fmt::format("{}{}={}", point.name.empty() ? "" : "-",
                              short_name(axis.key, grid.entries), point.grid.back().value);
    put(point.layers.back(), {axis.key, axis.mark, nested(values[i], problems)}, Repeated::problem,
        problems);
  }
  return point;
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
  Axes axes;
  size_t count = 1;
  for (const auto& axis : grid.entries) {
    axes.push_back(axis.value.items);
    count *= axis.value.items.size();
    if (count > kMostArms) {
      problems.add(axis.mark, fmt::format("the grid makes more than {} combinations", kMostArms));
      return {};
    }
  }
  std::vector<Variation> all;
  std::set<std::string> taken;
  for (const auto& values : combinations(axes)) {
    const auto& point = all.emplace_back(point_with(values, grid, problems));
    check_name(point.name, "grid", point.mark, problems);
    if (!taken.insert(point.name).second)
      problems.add(point.mark, fmt::format("the grid names two points {}", in_quotes(point.name)));
  }
  return taken.size() == all.size() ? all : std::vector<Variation>{};
}

std::vector<Combination> combinations(const Axes& axes) {
  std::vector<Combination> all{{}};
  for (const auto& values : axes) {
    std::vector<Combination> longer;
    for (const auto& combination : all)
      for (const auto& value : values) {
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
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
