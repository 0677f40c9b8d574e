#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace ablate::commands {

/// The program's whole command line; a verb's callback does its work when it is parsed. `debug` is
/// set by --debug and must outlive the command line.
std::unique_ptr<CLI::App> command_line(bool& debug);

/// The names of the verbs below `app` that its help shows.
std::vector<std::string> verb_names(const CLI::App& app);

/// The flags of a verb and of those above it, with their two dashes.
std::vector<std::string> flags_of(const CLI::App& app);

/// Null if there is no such verb.
const CLI::App* verb_named(const CLI::App& app, const std::string& name);

/// The option of a verb or of one above it; null if neither has it.
const CLI::Option* option_named(const CLI::App& app, const std::string& flag);

/// Whether `arguments` are only verbs and one more is needed: then the help is shown. // "ablate",
/// "ablate config"
bool lacks_verb(const CLI::App& app, const std::vector<std::string>& arguments);

/// The help of a verb; REQUIRES: it exists.
std::string help_of(const std::vector<std::string>& verbs);

/// A page with the help of every verb (docs/commands.md).
std::string reference_page();

/// The first verb or flag of `arguments` that does not exist, as a message with the nearest one
/// that does; empty if all do.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments);

/// CLI11's message about a mistake, followed by the command that prints the help of the verb that
/// was read.
std::string with_help(const CLI::App& app, const std::string& mistake);

/// The error message for the first list with an empty item ("--seeds 1,,2"), which CLI11 skips;
/// empty if there is no such list.
std::string empty_item(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace ablate::commands
