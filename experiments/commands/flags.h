#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/commands/section_flags.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"
#include "experiments/errors.h"

namespace ablate::commands {

/// Adds `--data DIR` to a verb that reads a study.
void add_data_flag(CLI::App& verb, std::string& folder);

/// The folder that `--data` names. Throws UsageError if it is not a folder.
std::filesystem::path data_folder(const std::string& folder);

/// Adds `--checkpoint` to a verb that takes the weights of a run.
void add_checkpoint_flag(CLI::App& verb, std::string& checkpoint);

/// The flags of verbs that write text: a flag for every option of `decoding`, over a run's own.
class DecodingFlags {
 public:
  /// REQUIRES: outlives parsing.
  void add(CLI::App& verb);
  /// The search options for `n_best` outputs of a line, if requested. Throws ConfigError if a value
  /// is out of range, UsageError if flags exclude each other.
  models::SearchOptions over(const config::Experiment& experiment,
                             std::optional<int64_t> n_best = {}) const;
  /// Throws UsageError if a flag was given of an option that is not among `read`, by their names in
  /// the section; `where` it has no effect is said in words.
  void check_read(const std::vector<std::string>& read, const std::string& where) const;

 private:
  SectionFlags section_;
  bool sample_ = false;
};

/// Writes help in the same way with every version of CLI11.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// Makes every option of `app` and of its verbs that may name a file refuse a path that begins with
/// ~, as "--output=~/runs" leaves it, and the next flag, as "--output $EMPTY --dry-run" leaves it,
/// so that no folder of that name is made. To be called when all options are there.
void refuse_wrong_paths(CLI::App& app);

/// A use of a verb, such as "--list", and all flags that it reads, by one of their names.
struct Mode {
  std::string name;
  std::vector<std::string> reads;
};

/// Throws UsageError if there are flags, which have no effect where it says: "with --list".
void refuse_unread(const std::vector<std::string>& flags, const std::string& where);

/// Throws UsageError if a flag of the verb was given that the mode does not read.
void check_mode(const CLI::App& verb, const Mode& mode);

/// Adds `--set KEY=VALUE`, which may be given once for each key, to a verb that reads a study.
void add_set_flag(CLI::App& verb, std::vector<std::string>& sets);

// The type name of an option determines how its value is completed: {a,b,STEP} by one of these
// words, of which capitals are placeholders; any other text by a file.
inline constexpr const char* kKeyAndValue = "KEY=VALUE";
inline constexpr const char* kKeyPath = "KEY";
inline constexpr const char* kVerb = "VERB";  // a verb of the same group
inline constexpr const char* kCheckpoint = "{best,last,averaged,STEP}";

/// "{a,b,c}"
inline std::string type_of_words(const std::vector<std::string>& words) {
  return fmt::format("{{{}}}", fmt::join(words, ","));
}

/// The value of an enum by its word. Throws UsageError, with the flag, if the enum lacks the word.
template <class Enum>
Enum value_of(const std::string& flag, const std::string& word) {
  for (const auto& [value, name] : names(Enum{}))
    if (name == word) return value;
  throw UsageError(
      fmt::format("{} must be {}", flag, config::alternatives(config::choices_of(Enum{}))));
}

/// Adds a flag whose value is one of the words of an enum.
template <class Enum>
CLI::Option* add_choice(CLI::App& verb, const std::string& flag, std::optional<Enum>& value,
                        const std::string& description) {
  const auto words = config::choices_of(Enum{});
  const auto number_of = [words](std::string& text) -> std::string {
    for (const auto& [one, word] : names(Enum{}))
      if (text == word) {
        text = std::to_string(static_cast<int>(one));
        return "";
      }
    return fmt::format("unknown {}; choose {}", config::in_quotes(text),
                       config::alternatives(words));
  };
  return verb.add_option(flag, value, description)
      ->transform(CLI::Validator(number_of, ""))
      ->type_name(type_of_words(words));
}

}  // namespace ablate::commands
