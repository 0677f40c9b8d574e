#include "experiments/commands/section_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/command_line/completion.h"
#include "experiments/config/option.h"
#include "experiments/config/reader.h"
#include "experiments/config/rules.h"
#include "experiments/config/selection.h"

namespace ablate::experiments {
namespace {

std::string flag_of(std::string path) {
  std::ranges::replace(path, '_', '-');
  std::ranges::replace(path, '.', '-');
  return "--" + path;
}

std::string as_yaml(const Schema& type, const std::string& value) {
  return type.type == Schema::Type::text ? quoted_yaml(value) : value;
}

/// Items may stand apart or be joined by commas ("--train-length 1,12").
std::string list_yaml(const Schema& element, const std::vector<std::string>& values) {
  std::vector<std::string> items;
  for (const auto& value : values) items.push_back(as_yaml(element, value));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// What names the alternative of a section, which has no field of its own.
Schema kind_of(const Schema& schema, const std::string& section) {
  const auto* variant = node_at(schema, section);
  return {.type = Schema::Type::choice,
          .description = "the " + variant->discriminator,
          .choices = variant->choices};
}

}  // namespace

void SectionFlags::add(CLI::App& verb, const std::string& section,
                       std::initializer_list<std::string_view> left_out) {
  section_ = section;
  const auto schema = experiment_schema();
  for (const auto& path : all_paths(schema)) {
    if (!path.starts_with(section + ".")) continue;
    const auto name = path.substr(section.size() + 1);
    const auto flag_is_taken = verb.get_option_no_throw(flag_of(name)) != nullptr;
    if (flag_is_taken || std::ranges::find(left_out, name) != left_out.end()) continue;
    const auto* option = node_at(schema, path);
    if (option == nullptr)
      add_option(verb, path, kind_of(schema, section));
    else if (option->type != Schema::Type::mapping)
      add_option(verb, path, *option);
  }
}

void SectionFlags::add_option(CLI::App& verb, const std::string& path, const Schema& option) {
  const auto name = flag_of(path.substr(section_.size() + 1));
  const auto text = option.description + " (" + type_text(option) + ")";
  if (option.type != Schema::Type::list) {
    auto* added = verb.add_option_function<std::string>(
        name,
        [this, path, option](const std::string& value) { values_[path] = as_yaml(option, value); },
        text);
    if (!option.choices.empty()) added->type_name(type_of_words(option.choices));
    return;
  }
  verb.add_option_function<std::vector<std::string>>(
          name,
          [this, path, option](const std::vector<std::string>& values) {
            values_[path] = list_yaml(option.children.at(0), values);
          },
          text)
      ->delimiter(',');
}

Experiment SectionFlags::read() const {
  std::vector<std::string> sets;
  for (const auto& [path, value] : values_) sets.push_back(path + "=" + value);
  ProblemList problems;
  Trail trail;
  const auto schema = experiment_schema();
  Experiment experiment;
  Reader(schema, problems, trail).lay_over(set_layer(sets, problems), experiment);
  std::vector<BrokenRule> broken;
  collect_broken_rules(experiment.tokenizer, "tokenizer", broken);
  std::visit([&](const auto& data) { collect_broken_rules(data, "data", broken); },
             experiment.data);
  for (const auto& rule : broken) {
    const auto path = rule.section + "." + rule.key;
    if (rule.section.starts_with(section_) && !follows_from_failure(rule, trail))
      problems.add(trail.place(path), path + " " + rule.why);
  }
  problems.raise();
  return experiment;
}

}  // namespace ablate::experiments
