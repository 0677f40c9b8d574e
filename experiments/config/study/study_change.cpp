#include "experiments/config/study/study_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "experiments/config/schema/printer.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr size_t kMostNamed = 3;
// Compared by the experiments that they resolve to.
constexpr auto kResolved = std::to_array<std::string_view>(
    {"extends", "name", "seeds", "base", "tasks", "sizes", "arms", "grid", "match"});

using Texts = std::map<std::string, std::string>;  // by key

std::string change_line(const std::string& key, const std::string& then, const std::string& now) {
  return fmt::format("{}: {} before, {} now", key, then.empty() ? "not set" : then,
                     now.empty() ? "not set" : now);
}

std::vector<std::string> changed(const Texts& then, const Texts& now) {
  std::vector<std::string> lines;
  const auto in = [](const Texts& texts, const std::string& key) {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string() : found->second;
  };
  for (const auto& [key, text] : then)
    if (in(now, key) != text) lines.push_back(change_line(key, text, in(now, key)));
  for (const auto& [key, text] : now)
    if (!then.contains(key)) lines.push_back(change_line(key, "", text));
  return lines;
}

/// "(copy/learned, copy/rotary, ...)"
std::string named(std::vector<std::string> runs) {
  const bool more = runs.size() > kMostNamed;
  if (more) runs.resize(kMostNamed);
  return fmt::format(" ({}{})", fmt::join(runs, ", "), more ? ", ..." : "");
}

/// Changed values, each once with the runs that it changes, and removed runs.
std::vector<std::string> changed_runs(const Study& then, const Study& now) {
  std::vector<std::string> lines, order;
  std::map<std::string, std::vector<std::string>> runs;  // by changed value
  size_t common = 0;
  for (const auto& before : then.configurations) {
    const auto name = before.task + "/" + before.arm;
    const auto* after = configuration_of(now.configurations, before.task, before.arm);
    if (after == nullptr) {
      lines.push_back(fmt::format("{}: missing now", name));
      continue;
    }
    ++common;
    for (const auto& value : differences(before.experiment, after->experiment)) {
      const auto text = change_line(value.path, value.left, value.right);
      if (!runs.contains(text)) order.push_back(text);
      runs[text].push_back(name);
    }
  }
  for (const auto& text : order)
    lines.push_back(text + (runs[text].size() < common ? named(runs[text]) : ""));
  return lines;
}

}  // namespace

std::map<std::string, std::string> claims_of(const Value& document) {
  Texts texts;
  for (const auto& [path, entry] : leaves_of(document))
    if (std::ranges::find(kResolved, path.substr(0, path.find('.'))) == kResolved.end())
      texts[path] = text_of(entry->value);
  texts.erase("compare.allow");      // may be added after a comparison was refused
  texts.erase("tune.on_test_text");  // and this, after a choice was
  texts.erase("time");               // may change with more seeds or arms
  return texts;
}

std::vector<std::string> changes(const Study& then, const Study& now) {
  auto lines = changed_runs(then, now);
  for (const int64_t seed : then.declared_seeds)
    if (std::ranges::find(now.declared_seeds, seed) == now.declared_seeds.end())
      lines.push_back(fmt::format("seed {}: missing now", seed));
  if (then.crossed != now.crossed)
    lines.emplace_back(then.crossed ? "seeds: crossed before, a list now"
                                    : "seeds: a list before, crossed now");
  for (auto& claim : changed(then.claims, now.claims)) lines.push_back(std::move(claim));
  return lines;
}

std::vector<std::string> changed_sets(const std::vector<std::string>& then,
                                      const std::vector<std::string>& now) {
  const auto texts = [](const std::vector<std::string>& sets) {
    Texts values;
    for (const auto& set : sets) {
      const auto equals = std::min(set.find('='), set.size());
      values[set.substr(0, equals)] = set.substr(std::min(equals + 1, set.size()));
    }
    return values;
  };
  return changed(texts(then), texts(now));
}

}  // namespace ablate::config
