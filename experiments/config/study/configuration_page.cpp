#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/explanation.h"
#include "experiments/config/study/study_file.h"

namespace ablate::config {
namespace {

constexpr const char* kIntroduction = R"(# Every key of a study

Written by `ablate config docs`. `ablate config explain KEY` prints the same for one key, and
[study.schema.json](study.schema.json) is for editors (`# yaml-language-server: $schema=...` in the first line of a study).

A path such as `model.position.kind` starts below `base`; `tasks`, `sizes`, `arms` and `grid` change the same paths, with dots or
nested, as does `--set model.position.kind=rotary`. A word in the place of a section is its kind: `model.position: rotary`. Values given later win: defaults, `base`, task, size, grid, arm, `--set`, `match`.
)";

constexpr const char* kMetrics = R"(
## Metrics

`compare` takes the metrics of which higher or lower values are better, `expect` takes all of them.

| metric | better | measured on | meaning |
|---|---|---|---|
)";

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '|') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string code(const std::string& text) { return fmt::format("`{}`", cell(text)); }

bool is_section(const Schema& schema) {
  return schema.type == Schema::Type::record || schema.type == Schema::Type::variant;
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

/// Writes each section once. Alternatives with the same keys share a table, and an alternative with
/// the table of an earlier section refers to it.
class Page {
 public:
  explicit Page(std::vector<std::string> required) : required_(std::move(required)) {}

  void keys(const std::vector<Schema>& keys, const std::string& path) {
    text_ += table(keys, path);
    below(keys, path);
  }

  void below(const std::vector<Schema>& keys, const std::string& path) {
    for (const auto& key : keys) {
      if (path.empty() && key.name == "base")  // its paths start below it
        below(key.children, "");
      else if (is_section(key))
        section(key, join_path(path, key.name));
      else if (key.type == Schema::Type::list && key.children[0].of_layer)
        changes(key, join_path(path, key.name));
    }
  }

  std::string text() && { return std::move(text_); }

 private:
  bool is_required(const std::string& path) const {
    return std::ranges::find(required_, path) != required_.end();
  }

  std::string fallback(const Schema& key, const std::string& path) const {
    if (is_required(path)) return "must be given";
    if (key.type == Schema::Type::variant)
      return code(fmt::format("{}: {}", key.discriminator, key.fallback));
    return key.fallback.empty() ? "" : code(key.fallback);
  }

  std::string table(const std::vector<Schema>& keys, const std::string& path) const {
    if (keys.empty()) return "No keys.\n";
    std::string text = "| key | holds | default | meaning |\n|---|---|---|---|\n";
    for (const auto& key : keys)
      text +=
          fmt::format("| {} | {} | {} | {} |\n", code(key.name),
                      is_section(key) ? "keys, see below" : cell(bounded_type_text(key)),
                      fallback(key, join_path(path, key.name)), cell(key.description) + words(key));
    return text;
  }

  /// The words of a choice that have a sentence.
  static std::string words(const Schema& key) {
    std::string text;
    if (key.type == Schema::Type::choice)
      for (size_t i = 0; i < key.abouts.size(); ++i)
        text += fmt::format("<br>{}: {}", code(key.choices[i]), cell(key.abouts[i]));
    return text;
  }

  /// Whether the key of a layer is also a key of the model: `every`, `at` and `side` are not.
  static bool is_of_model(const Schema& key) {
    return node_at(experiment_schema(), join_path("model", key.name)) != nullptr;
  }

  static std::string keys_of_layer(const Schema& schema) {
    std::vector<std::string> keys;
    for (const auto& key : schema.children)
      if (is_of_model(key)) keys.push_back(code("model." + key.name));
    return fmt::format("{}", fmt::join(keys, ", "));
  }

  void changes(const Schema& list, const std::string& path) {
    auto own = list.children[0].children;
    std::erase_if(own, is_of_model);
    text_ += fmt::format(
        "\n## {}\n\n{} An element names its layers and gives them other values for {}.\n\n{}", path,
        sentence(list.description), keys_of_layer(list.children[0]), table(own, path));
  }

  void section(const Schema& schema, const std::string& path) {
    const auto heading = fmt::format("\n## {}\n\n{}\n\n", path, sentence(schema.description));
    if (schema.of_layer) {
      text_ += fmt::format("{}The keys are those of a layer, as in {}.\n", heading,
                           keys_of_layer(schema));
      return;
    }
    if (schema.type == Schema::Type::record) {
      const auto text = heading + table(schema.children, path);
      if (!sections_.insert(text).second) return;
      text_ += text;
      return below(schema.children, path);
    }
    const auto kind = join_path(path, schema.discriminator);
    text_ += heading;
    text_ += fmt::format("`{}` selects the alternative{}.\n", schema.discriminator,
                         is_required(kind) ? " and must be given"
                                           : fmt::format("; the default is `{}`", schema.fallback));
    alternatives(schema, path);
    for (const auto& alternative : schema.children) below(alternative.children, path);
  }

  void alternatives(const Schema& variant, const std::string& path) {
    struct Group {
      std::string keys, kinds, abouts;
    };
    std::vector<Group> groups;
    for (const auto& kind : variant.children) {
      auto keys = table(kind.children, path);
      auto group = std::ranges::find(groups, keys, &Group::keys);
      if (group == groups.end()) group = groups.insert(group, {std::move(keys), "", ""});
      group->kinds += (group->kinds.empty() ? "" : ", ") + code(kind.name);
      group->abouts += fmt::format("- {}: {}\n", code(kind.name), kind.description);
    }
    for (const auto& [keys, kinds, abouts] : groups) {
      text_ += fmt::format("\n### {}: {} {}\n\n{}\n", path, variant.discriminator, kinds, abouts);
      const auto [known, fresh] = places_.try_emplace(keys, path);
      text_ += fresh || keys[0] != '|' ? keys
                                       : fmt::format("The keys are those of `{}` with this {}.\n",
                                                     known->second, variant.discriminator);
    }
  }

  std::string text_;
  std::vector<std::string> required_;
  std::set<std::string> sections_;
  std::map<std::string, std::string> places_;  // table -> the first section that has it
};

std::string test_sets_of(const Metric& metric) {
  if (metric.observed) return "observations (`training.observe`)";
  std::string kinds;
  for (const auto& [kind, words] : {std::pair{data::Compared::text, "text"},
                                    {data::Compared::label, "labels"},
                                    {data::Compared::nothing, "running text"},
                                    {data::Compared::tokens, "tokens"}})
    if (std::ranges::find(metric.on, kind) != metric.on.end())
      kinds += (kinds.empty() ? "" : ", ") + std::string(words);
  return kinds.empty() ? "training and validation" : kinds;
}

std::string metrics_table() {
  std::string text = kMetrics;
  for (const auto& metric : metrics())
    text += fmt::format("| {} | {} | {} | {} |\n", code(metric.name), word_of(metric.direction),
                        test_sets_of(metric), metric.meaning);
  return text;
}

}  // namespace

std::string configuration_page() {
  const auto& study = study_schema();
  auto required = experiment_schema().required;
  required.insert(required.end(), study.required.begin(), study.required.end());
  Page page(required);
  page.keys(study.children, "");
  return fmt::format("{}\n## The study\n\n{}{}", kIntroduction, std::move(page).text(),
                     metrics_table());
}

}  // namespace ablate::config
