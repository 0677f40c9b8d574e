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

bool is_list(const config::Schema* option) { return option->type == config::Schema::Type::list; }

/// Words as YAML; several, where one is wanted, are a list, which the reader refuses.
std::string as_yaml(const config::Schema& option, const std::vector<std::string>& words) {
  if (!is_list(&option) && words.size() == 1) return as_yaml(option, words.front());
  const auto& element = is_list(&option) ? option.children.at(0) : option;
  std::vector<std::string> items;
  for (const auto& word : words) items.push_back(as_yaml(element, word));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

/// The schema of a section's `kind`, which has no field.
config::Schema kind_of(const config::Schema& variant) {
  return {.type = config::Schema::Type::choice,
          .description = "the " + variant.discriminator,
          .choices = variant.choices};
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
    const auto options = config::nodes_at(schema, path);
    if (options.empty()) {
      const auto kind = kind_of(*config::node_at(schema, section));
      add_option(verb, path, flag, {&kind});
    } else if (options.front()->type != config::Schema::Type::record &&
               options.front()->type != config::Schema::Type::variant) {
      add_option(verb, path, flag, options);
    }
  }
}

/// Adds one flag for the options of all kinds that have one of this path: `--train` takes the two
/// files of one task and the single file of another.
void SectionFlags::add_option(CLI::App& verb, const std::string& path, const std::string& flag,
                              const std::vector<const config::Schema*>& options) {
  flags_[path] = flag;
  std::vector<std::string> types;
  for (const auto* option : options)
    if (auto type = config::type_text(*option); std::ranges::find(types, type) == types.end())
      types.push_back(std::move(type));
  const auto text = fmt::format("{} ({})", options.front()->description, fmt::join(types, ", or "));
  if (std::ranges::any_of(options, is_list)) {
    verb.add_option_function<std::vector<std::string>>(
            flag, [this, path](const std::vector<std::string>& words) { values_[path] = words; },
            text)
        ->delimiter(',');
    return;
  }
  auto* added = verb.add_option_function<std::string>(
      flag, [this, path](const std::string& word) { values_[path] = {word}; }, text);
  const auto& choices = options.front()->choices;
  if (!choices.empty()) added->type_name(type_of_words(choices));
}

/// The option at a path in the kind of the section that was given or, if that lacks it, in any.
const config::Schema& SectionFlags::option_at(const std::string& path) const {
  const auto& schema = config::experiment_schema();
  const auto* section = config::node_at(schema, section_);
  const auto kind = values_.find(config::join_path(section_, section->discriminator));
  const auto* own = kind == values_.end() ? nullptr : section->find(kind->second.front());
  const auto* option =
      own == nullptr ? nullptr : config::node_at(*own, path.substr(section_.size() + 1));
  if (option == nullptr) option = config::node_at(schema, path);
  static const config::Schema kKind{.type = config::Schema::Type::choice};
  return option == nullptr ? kKind : *option;
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
  values_[section_ + "." + name] = {value};
}

template <class CollectBroken>
config::Experiment SectionFlags::laid_over(config::Experiment experiment,
                                           CollectBroken&& collect) const {
  std::vector<std::string> sets, flags;
  for (const auto& [path, words] : values_) {
    sets.push_back(path + "=" + as_yaml(option_at(path), words));
    flags.push_back(flag_at(path));
  }
  config::ProblemList problems;
  const auto tree = config::read(config::set_layer(sets, problems), options::slot_of(experiment),
                                 {config::experiment_schema(), problems});
  std::vector<config::BrokenRule> broken;
  collect(experiment, broken);
  for (const auto& rule : broken) {
    const auto path = config::join_path(rule.section, rule.key);
    if (!path.starts_with(section_ + ".") || config::follows_from_failure(rule, tree)) continue;
    if (tree.has(path) || !flags_.contains(path))
      problems.add(tree.place(path), path + " " + rule.why);
    else  // the flag that is missing, or whose default breaks the rule
      problems.add({.file = flag_at(path), .message = path + " " + rule.why});
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
