#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/rules.h"
#include "experiments/config/schema/schema.h"

namespace ablate::commands {

/// A flag for every option below one section of a study ("tokenizer", "data", "decoding"), taken
/// from the section's fields(): `train_length: [1, 12]` is `--train-length 1 12`.
class SectionFlags {
 public:
  struct Naming {
    std::vector<std::string_view> left_out;
    /// Another name for an option, given and returned without the section; or none.
    std::function<std::string(const std::string&)> rename;
  };

  /// Adds the flags to `verb`. REQUIRES: outlives parsing.
  void add(CLI::App& verb, const std::string& section, const Naming& naming);

  bool given() const { return !values_.empty(); }
  /// Whether a flag of the option `name`, or of one below it, was given.
  bool given(const std::string& name) const;
  /// The flags that were given of options that are not among `names`, nor below them.
  std::vector<std::string> given_but(const std::vector<std::string>& names) const;
  /// Sets `name` to `value`, as if it had been given on the command line.
  void set(const std::string& name, const std::string& value);
  void forget(const std::string& name) { values_.erase(section_ + "." + name); }

  /// The section's defaults with the flags over them, read and checked like `--set`. Throws
  /// ConfigError with every problem.
  config::Experiment read() const;
  /// The same with the flags over `experiment`, whose other sections count in the checks.
  config::Experiment over(const config::Experiment& experiment) const;

 private:
  void add_option(CLI::App& verb, const std::string& path, const std::string& flag,
                  const std::vector<const config::Schema*>& options);
  const config::Schema& option_at(const std::string& path) const;
  std::string flag_at(const std::string& path) const;
  template <class CollectBroken>
  config::Experiment laid_over(config::Experiment experiment, CollectBroken&& collect) const;

  std::string section_;
  std::map<std::string, std::string> flags_;                // dotted path -> "--flag"
  std::map<std::string, std::vector<std::string>> values_;  // dotted path -> words of its value
};

}  // namespace ablate::commands
