#include "experiments/config/schema/printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/schema/layer_changes.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/schema/rules.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/document.h"

namespace ablate::config {
namespace {

constexpr size_t kOriginColumn = 48;

/// `section: ` lines for the sections of `path` that `before` is not in.
std::string open_sections(const std::string& before, const std::string& path, size_t& depth) {
  std::string lines;
  depth = 0;
  for (size_t begin = 0, dot; (dot = path.find('.', begin)) != std::string::npos;
       begin = dot + 1, ++depth)
    if (!before.starts_with(path.substr(0, dot + 1)))
      lines += fmt::format("{}{}:\n", std::string(2 * depth, ' '), path.substr(begin, dot - begin));
  return lines;
}

std::string text_at(const std::vector<Leaf>& leaves, const std::string& path) {
  const auto found = std::ranges::find(leaves, path, &Leaf::path);
  return found == leaves.end() ? "" : found->text;
}

}  // namespace

std::string to_yaml(const Experiment& experiment,
                    const std::map<std::string, std::string>& origins) {
  std::string text;
  std::string before;
  for (const auto& leaf : leaves_of(experiment)) {
    size_t depth = 0;
    text += open_sections(before, leaf.path, depth);
    auto line =
        fmt::format("{}{}: {}", std::string(2 * depth, ' '), last_key(leaf.path), leaf.text);
    if (const auto origin = origins.find(leaf.path); origin != origins.end())
      line = fmt::format("{:<{}}  # {}", line, kOriginColumn, origin->second);
    text += line + "\n";
    before = leaf.path;
  }
  return text;
}

Experiment read_experiment(const std::filesystem::path& file) {
  return read_experiment(read_source(file));
}

Experiment read_experiment(const std::shared_ptr<const Source>& source) {
  const auto& schema = experiment_schema();
  ProblemList problems;
  Tree given{.root = {.type = Value::Type::mapping, .mark = {source, 0, 0}}};
  Reader(schema, problems)
      .lay(parse_mapping(source, problems), options::slot_of(Experiment{}), given);
  const auto [experiment, tree] = decoded(given, problems);
  report_missing(schema, tree, problems);
  std::vector<BrokenRule> broken;
  collect_broken_rules(options::slot_of(experiment), "", broken);
  for (const auto& [mark, message] : rule_problems(experiment.model, broken, tree))
    problems.add(mark, message);
  problems.raise();
  return experiment;
}

std::vector<Difference> differences(const Experiment& left, const Experiment& right) {
  const auto lefts = leaves_of(left);
  const auto rights = leaves_of(right);
  std::vector<Difference> found;
  for (const auto& leaf : lefts)
    if (const auto other = text_at(rights, leaf.path); other != leaf.text)
      found.push_back({leaf.path, leaf.text, other});
  for (const auto& leaf : rights)
    if (text_at(lefts, leaf.path).empty()) found.push_back({leaf.path, "", leaf.text});
  return found;
}

std::string canonical(const Experiment& experiment) {
  std::string text;
  for (const auto& leaf : leaves_of(experiment)) text += leaf.path + "=" + leaf.text + "\n";
  return text;
}

}  // namespace ablate::config
