#include "experiments/config/study/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>

#include "experiments/config/yaml/document.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

/// Reads the value of one `key.path=value`; columns of problems count from the start of the option.
void add_set(const std::string& set, size_t index, Value& layer, ProblemList& problems) {
  Source source(kSetSource, std::string(index, '\n') + set);
  const auto line = static_cast<int>(index);
  const auto equals = set.find('=');
  if (equals != std::string::npos) source.text.replace(index, equals + 1, equals + 1, ' ');
  const auto shared = std::make_shared<const Source>(std::move(source));
  if (equals == std::string::npos)
    return problems.add({shared, line, 0},
                        fmt::format("{} must be key.path=value", in_quotes(set)));
  check_text(shared);
  Value value = parse_document(shared, problems);
  if (value.type == Value::Type::empty) value.mark = {shared, line, static_cast<int>(equals) + 1};
  Entry entry;
  entry.key = set.substr(0, equals);
  entry.mark = {shared, line, 0};
  entry.value = nested(value, problems);
  put(layer, entry, Repeated::last_wins, problems);
}

}  // namespace

Mark list_mark(const std::string& flag, const std::vector<std::string>& words) {
  return {std::make_shared<const Source>(flag, fmt::format("{}", fmt::join(words, ","))), 0, 0};
}

Mark mark_of_seeds(const std::vector<int64_t>& seeds) {
  return {std::make_shared<const Source>("--seeds", fmt::format("{}", fmt::join(seeds, ","))), 0,
          0};
}

Value set_layer(const std::vector<std::string>& sets, ProblemList& problems) {
  Value layer{.type = Value::Type::mapping};
  for (size_t i = 0; i < sets.size(); ++i) {
    try {
      add_set(sets[i], i, layer, problems);
    } catch (const ConfigError& error) {
      for (const auto& problem : error.problems) problems.add(problem);
    }
  }
  return layer;
}

bool is_selected(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> selected(const std::vector<std::string>& all,
                                  const std::vector<std::string>& wanted, const ListOption& option,
                                  ProblemList& problems) {
  if (wanted.empty()) return all;
  auto mark = list_mark(option.flag, wanted);
  for (const auto& word : wanted) {
    if (!is_selected(word, all))
      problems.add(mark, fmt::format("unknown {} {}{}", option.what, in_quotes(word),
                                     did_you_mean(word, all)));
    mark.column += static_cast<int>(word.size()) + 1;
  }
  std::vector<std::string> names = all;
  std::erase_if(names, [&](const std::string& name) { return !is_selected(name, wanted); });
  return names;
}

void check_seeds(const std::vector<int64_t>& seeds, const Mark& mark, ProblemList& problems) {
  if (seeds.empty()) problems.add(mark, "seeds must list at least one seed");
  std::set<int64_t> seen;
  for (const int64_t seed : seeds) {
    if (seed < 0) problems.add(mark, fmt::format("seed {} must not be negative", seed));
    if (!seen.insert(seed).second) problems.add(mark, fmt::format("seed {} is given twice", seed));
  }
}

std::vector<int64_t> selected_seeds(const Selection& selection, ProblemList& problems) {
  check_seeds(selection.seeds, mark_of_seeds(selection.seeds), problems);
  return selection.seeds;
}

}  // namespace ablate::config
