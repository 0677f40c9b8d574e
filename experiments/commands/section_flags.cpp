#include "experiments/commands/section_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/commands/flags.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/study/selection.h"

namespace ablate::commands {
namespace {

std::string flag_of(std::string path) {
  std::ranges::replace(path, '_', '-');
  std::ranges::replace(path, '.', '-');
  return "--" + path;
}

/// An empty value is no null: somebody's variable was empty.
std::string as_yaml(const config::Schema& type, const std::string& value) {
  const bool text = type.type == config::Schema::Type::text || value.empty();
  return text ? config::quoted_yaml(value) : value;
}

/// Items may be separate words or joined by commas ("--train-length 1,12").
std::string list_yaml(const config::Schema& element, const std::vector<std::string>& values) {
  std::vector<std::string> items;
  for (const auto& value : values) items.push_back(as_yaml(element, value));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// The schema of a section's `kind`, which has no field.
config::Schema kind_of(const config::Schema& schema, const std::string& section) {
  const auto* variant = config::node_at(schema, section);
  return {.type = config::Schema::Type::choice,
          .description = "the " + variant->discriminator,
          .choices = variant->choices};
}

/// Throws ConfigError if there is a problem, at the flag that was typed; the n-th line of the
/// source that was read is the n-th flag.
void raise_for_flags(const config::ProblemList& problems, const std::vector<std::string>& flags) {
  try {
    problems.raise();
  } catch (const config::ConfigError& error) {
    auto all = error.problems;
    for (auto& problem : all)
      if (problem.file == config::kSetSource && problem.line > 0)
        problem = {.file = flags.at(std::min(static_cast<size_t>(problem.line), flags.size()) - 1),
                   .message = problem.message};
    throw config::ConfigError(std::move(all));
  }
}

}  // namespace

std::string SectionFlags::flag_at(const std::string& path) const {
  const auto known = flags_.find(path);
  return known == flags_.end() ? flag_of(path.substr(section_.size() + 1)) : known->second;
}

void SectionFlags::add(CLI::App& verb, const std::string& section, const Naming& naming) {
  section_ = section;
  const auto& schema = config::experiment_schema();
  for (const auto& path : config::all_paths(schema)) {
    if (!path.starts_with(section + ".")) continue;
    const auto name = path.substr(section.size() + 1);
    const auto flag = flag_of(naming.rename ? naming.rename(name) : name);
    const auto flag_is_taken = verb.get_option_no_throw(flag) != nullptr;
    if (flag_is_taken || std::ranges::find(naming.left_out, name) != naming.left_out.end())
      continue;
    const auto* option = config::node_at(schema, path);
    if (option == nullptr)
      add_option(verb, path, flag, kind_of(schema, section));
    else if (option->type != config::Schema::Type::mapping &&
             option->type != config::Schema::Type::variant)
      add_option(verb, path, flag, *option);
  }
}

void SectionFlags::add_option(CLI::App& verb, const std::string& path, const std::string& flag,
                              const config::Schema& option) {
  flags_[path] = flag;
  const auto text = option.description + " (" + config::type_text(option) + ")";
  if (option.type != config::Schema::Type::list) {
    auto* added = verb.add_option_function<std::string>(
        flag,
        [this, path, option](const std::string& value) { values_[path] = as_yaml(option, value); },
        text);
    if (!option.choices.empty()) added->type_name(type_of_words(option.choices));
    return;
  }
  verb.add_option_function<std::vector<std::string>>(
          flag,
          [this, path, option](const std::vector<std::string>& values) {
            values_[path] = list_yaml(option.children.at(0), values);
          },
          text)
      ->delimiter(',');
}

bool SectionFlags::given(const std::string& name) const {
  const auto path = section_ + "." + name;
  return std::ranges::any_of(values_, [&](const auto& value) {
    return value.first == path || value.first.starts_with(path + ".");
  });
}

std::vector<std::string> SectionFlags::given_but(const std::vector<std::string>& names) const {
  std::vector<std::string> flags;
  for (const auto& [path, value] : values_)
    if (std::ranges::none_of(names, [&](const std::string& name) {
          const auto read = section_ + "." + name;
          return path == read || path.starts_with(read + ".");
        }))
      flags.push_back(flag_at(path));
  return flags;
}

void SectionFlags::set(const std::string& name, const std::string& value) {
  values_[section_ + "." + name] = value;
}

template <class CollectBroken>
config::Experiment SectionFlags::laid_over(config::Experiment experiment,
                                           CollectBroken&& collect) const {
  std::vector<std::string> sets, flags;
  for (const auto& [path, value] : values_) {
    sets.push_back(path + "=" + value);
    flags.push_back(flag_at(path));
  }
  config::ProblemList problems;
  config::Trail trail;
  const auto& schema = config::experiment_schema();
  config::Reader(schema, problems, trail)
      .lay_over(config::set_layer(sets, problems), options::slot_of(experiment));
  std::vector<config::BrokenRule> broken;
  collect(experiment, broken);
  for (const auto& rule : broken) {
    const auto path = config::join_path(rule.section, rule.key);
    if (path.starts_with(section_ + ".") && !config::follows_from_failure(rule, trail))
      problems.add(trail.place(path), path + " " + rule.why);
  }
  raise_for_flags(problems, flags);
  return experiment;
}

config::Experiment SectionFlags::read() const {
  return laid_over(
      {}, [](const config::Experiment& experiment, std::vector<config::BrokenRule>& broken) {
        for (const auto* key : {"tokenizer", "data"})
          config::collect_broken_rules(section(options::slot_of(experiment), key), key, broken);
      });
}

config::Experiment SectionFlags::over(const config::Experiment& experiment) const {
  return laid_over(experiment,
                   [](const config::Experiment& whole, std::vector<config::BrokenRule>& broken) {
                     config::collect_broken_rules(options::slot_of(whole), "", broken);
                   });
}

}  // namespace ablate::commands
