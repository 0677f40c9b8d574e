#include "experiments/study/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "experiments/study/overlay.h"
#include "experiments/study/reader.h"

namespace ablate::experiments {
namespace {

const std::vector<std::string> kStudyKeys = {"name", "question", "seeds",   "base",  "tasks",
                                             "arms", "grid",     "compare", "expect"};
const std::vector<std::string> kMetrics = {"exact_match", "token_accuracy", "bleu",
                                           "chrf",        "perplexity",     "loss"};

/// A named change of the base: a task or an arm.
struct Layer {
  std::string name;
  Value change;
};

bool is_name(const std::string& text) {
  const auto allowed = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '.' || letter == '_' || letter == '=' ||
           letter == '-';
  };
  return !text.empty() && text.size() <= 100 && text != "." && text != ".." &&
         std::ranges::all_of(text, allowed);
}

/// Reads a study's parts; what is wrong goes to `problems`.
class StudyReader {
 public:
  StudyReader(const Value& root, Problems& problems) : root_(root), problems_(problems) {}

  void check_keys() {
    for (const auto& entry : root_.entries)
      if (std::ranges::find(kStudyKeys, entry.key) == kStudyKeys.end())
        problems_.add(entry.place, fmt::format("unknown key '{}' in a study{}", entry.key,
                                               misplaced(entry.key)));
  }

  std::string text(const std::string& key) {
    const auto* value = root_.find(key);
    if (value == nullptr || value->kind == Value::Kind::null) return {};
    if (value->kind == Value::Kind::scalar) return value->scalar;
    problems_.add(value->place, key + " must be a single value");
    return {};
  }

  std::string name() {
    const auto result = text("name");
    if (!is_name(result)) problems_.add(place("name"), bad_name("name", result));
    return result;
  }

  std::vector<int64_t> seeds() {
    const auto* value = root_.find("seeds");
    if (value == nullptr) return {1};
    std::vector<int64_t> result;
    if (value->kind != Value::Kind::list || value->items.empty()) {
      problems_.add(value->place, "seeds must be a list such as [1, 2, 3]");
      return {1};
    }
    for (const auto& item : value->items) {
      const bool digits =
          item.kind == Value::Kind::scalar && !item.scalar.empty() && item.scalar.size() <= 18 &&
          std::ranges::all_of(item.scalar,
                              [](unsigned char letter) { return std::isdigit(letter) != 0; });
      if (!digits) {
        problems_.add(item.place, fmt::format("seed '{}' is not a number from 0 up", item.scalar));
        continue;
      }
      const auto seed = std::stoll(item.scalar);
      if (std::ranges::find(result, seed) != result.end())
        problems_.add(item.place, fmt::format("seed {} is given twice", seed));
      result.push_back(seed);
    }
    return result;
  }

  std::vector<Layer> layers(const std::string& key) {
    std::vector<Layer> result;
    const auto* value = root_.find(key);
    if (value == nullptr || value->kind == Value::Kind::null) return result;
    if (value->kind != Value::Kind::map || value->entries.empty()) {
      problems_.add(value->place, key + " must map names to changes of base");
      return result;
    }
    for (const auto& entry : value->entries) {
      const auto kind = entry.value.kind;
      if (!is_name(entry.key)) problems_.add(entry.place, bad_name("a name in " + key, entry.key));
      if (kind != Value::Kind::map && kind != Value::Kind::null)
        problems_.add(entry.value.place,
                      fmt::format("{} must be a mapping of keys to values", entry.key));
      else
        result.push_back({entry.key, expand(entry.value, problems_)});
    }
    return result;
  }

  /// Every arm with every combination of the grid's values.
  std::vector<Layer> with_grid(std::vector<Layer> arms) {
    const auto* grid = root_.find("grid");
    if (grid == nullptr || grid->kind == Value::Kind::null) return arms;
    if (grid->kind != Value::Kind::map) {
      problems_.add(grid->place, "grid must map key paths to lists");
      return arms;
    }
    for (const auto& entry : grid->entries) {
      if (entry.value.kind != Value::Kind::list || entry.value.items.empty()) {
        problems_.add(entry.value.place, fmt::format("{} needs a list of values", entry.key));
        continue;
      }
      std::vector<Layer> wider;
      for (const auto& arm : arms)
        for (const auto& item : entry.value.items) {
          const auto chosen = fmt::format("{}={}", entry.key, item.scalar);
          if (item.kind != Value::Kind::scalar || !is_name(chosen))
            problems_.add(item.place, "a grid's values must be single words or numbers");
          const bool unnamed = arm.name == "base" && root_.find("arms") == nullptr;
          const bool first = unnamed && arm.change.kind != Value::Kind::map;
          wider.push_back({first ? chosen : arm.name + (unnamed ? "." : "-") + chosen,
                           merge(arm.change, nested(entry.key, entry.place, item))});
        }
      arms = std::move(wider);
    }
    return arms;
  }

  Value base() {
    const auto* value = root_.find("base");
    if (value == nullptr) {
      problems_.add(root_.place, "a study needs base: the configuration that all runs share");
      return {};
    }
    return expand(*value, problems_);
  }

  std::optional<Comparison> compare(const std::vector<std::string>& arms) {
    const auto* value = root_.find("compare");
    if (value == nullptr || value->kind == Value::Kind::null) return {};
    if (value->kind != Value::Kind::map) {
      problems_.add(value->place, "compare must be a mapping with baseline and metric");
      return {};
    }
    for (const auto& entry : value->entries)
      if (entry.key != "baseline" && entry.key != "metric")
        problems_.add(entry.place, fmt::format("unknown key '{}' in compare{}", entry.key,
                                               did_you_mean(entry.key, {"baseline", "metric"})));
    return Comparison{choice(*value, "baseline", "arm", arms),
                      choice(*value, "metric", "metric", kMetrics)};
  }

  std::vector<std::string> expect() {
    std::vector<std::string> result;
    const auto* value = root_.find("expect");
    if (value == nullptr || value->kind == Value::Kind::null) return result;
    if (value->kind != Value::Kind::list) {
      problems_.add(value->place, "expect must be a list of sentences");
      return result;
    }
    for (const auto& item : value->items) {
      if (item.kind != Value::Kind::scalar || item.scalar.empty())
        problems_.add(item.place, "an expectation must be a sentence");
      result.push_back(item.scalar);
    }
    return result;
  }

 private:
  static std::string bad_name(const std::string& what, const std::string& given) {
    return fmt::format("{} '{}' must be 1 to 100 of the signs A-Z a-z 0-9 . _ = -", what, given);
  }

  static std::string misplaced(const std::string& key) {
    const std::vector<std::string> sections = {"data", "tokenizer", "model", "training",
                                               "decoding"};
    if (std::ranges::find(sections, key) != sections.end())
      return fmt::format("; put it below base");
    return did_you_mean(key, kStudyKeys);
  }

  Place place(const std::string& key) const {
    const auto* value = root_.find(key);
    return value == nullptr ? root_.place : value->place;
  }

  std::string choice(const Value& map, const std::string& key, const std::string& what,
                     const std::vector<std::string>& known) {
    const auto* value = map.find(key);
    if (value == nullptr) {
      problems_.add(map.place, fmt::format("compare needs {}", key));
      return {};
    }
    if (std::ranges::find(known, value->scalar) == known.end()) {
      auto hint = did_you_mean(value->scalar, known);
      if (hint.empty()) hint = fmt::format("; use one of {}", fmt::join(known, ", "));
      problems_.add(value->place, fmt::format("unknown {} '{}'{}", what, value->scalar, hint));
    }
    return value->scalar;
  }

  const Value& root_;
  Problems& problems_;
};

/// One --set as a tree; its line in messages is what the user wrote.
Value parse_set(const std::string& set, Problems& problems) {
  const auto source = std::make_shared<SourceText>(SourceText{"--set", {set}});
  const auto equals = set.find('=');
  const Place start{source, 1, 1};
  if (equals == std::string::npos || equals == 0) {
    problems.add(start, "must be key.path=value");
    return {};
  }
  auto value = read_document("--set", std::string(equals + 1, ' ') + set.substr(equals + 1));
  const std::function<void(Value&)> settle = [&](Value& one) {
    one.place.source = source;
    for (auto& item : one.items) settle(item);
    for (auto& entry : one.entries) {
      entry.place.source = source;
      settle(entry.value);
    }
  };
  settle(value);
  return expand(nested(set.substr(0, equals), start, std::move(value)), problems);
}

std::string default_task(const Value& base) {
  const auto* data = base.find("data");
  const auto* task = data == nullptr ? nullptr : data->find("task");
  return task == nullptr ? "task" : task->scalar;
}

std::vector<std::string> names_of(const std::vector<Layer>& layers) {
  std::vector<std::string> result;
  for (const auto& layer : layers) result.push_back(layer.name);
  return result;
}

/// Keeps the layers that `wanted` names; an unknown name is a problem.
std::vector<Layer> selected(std::vector<Layer> layers, const std::vector<std::string>& wanted,
                            const std::string& option, Problems& problems) {
  if (wanted.empty()) return layers;
  const auto known = names_of(layers);
  for (const auto& name : wanted)
    if (std::ranges::find(known, name) == known.end()) {
      auto hint = did_you_mean(name, known);
      if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(known, ", "));
      const auto source = std::make_shared<SourceText>(SourceText{option, {name}});
      problems.add({source, 1, 1}, fmt::format("unknown name '{}'{}", name, hint));
    }
  std::erase_if(layers, [&](const Layer& layer) {
    return std::ranges::find(wanted, layer.name) == wanted.end();
  });
  return layers;
}

void add_runs(Study& study, const std::vector<Layer>& tasks, const std::vector<Layer>& arms,
              const std::pair<Value, std::vector<Value>>& base_and_sets, Problems& problems) {
  for (const auto& task : tasks)
    for (const auto& arm : arms) {
      auto resolved = merge(merge(base_and_sets.first, task.change), arm.change);
      for (const auto& set : base_and_sets.second) resolved = merge(resolved, set);
      auto read = read_experiment(resolved, problems);
      for (const int64_t seed : study.seeds)
        study.runs.push_back({task.name, arm.name, seed, read.experiment, read.origins});
    }
}

}  // namespace

Study read_study(const std::filesystem::path& file, const Selection& selection) {
  Problems problems;
  const auto root = read_document(file);
  if (root.kind != Value::Kind::map) {
    problems.add(root.place, "a study must be a mapping of keys to values");
    problems.check();
  }
  StudyReader reader(root, problems);
  reader.check_keys();
  Study study{.name = reader.name(),
              .question = reader.text("question"),
              .file = file,
              .data_folder = selection.data_folder.value_or(
                  file.has_parent_path() ? file.parent_path() : std::filesystem::path(".")),
              .seeds = reader.seeds()};
  if (!selection.seeds.empty()) study.seeds = selection.seeds;
  const auto base = reader.base();
  auto tasks = reader.layers("tasks");
  if (tasks.empty()) tasks.push_back({default_task(base), {}});
  auto arms = reader.layers("arms");
  if (arms.empty()) arms.push_back({"base", {}});
  arms = reader.with_grid(std::move(arms));
  study.compare = reader.compare(names_of(arms));
  study.expect = reader.expect();
  tasks = selected(std::move(tasks), selection.tasks, "--tasks", problems);
  arms = selected(std::move(arms), selection.arms, "--arms", problems);
  std::vector<Value> sets;
  for (const auto& set : selection.sets) sets.push_back(parse_set(set, problems));
  study.tasks = names_of(tasks);
  study.arms = names_of(arms);
  if (study.compare && std::ranges::find(study.arms, study.compare->baseline) == study.arms.end())
    study.compare.reset();
  add_runs(study, tasks, arms, {base, sets}, problems);
  problems.check();
  return study;
}

}  // namespace ablate::experiments
