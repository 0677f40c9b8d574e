#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace ablate::experiments {

/// The program's whole command line; a verb's callback does its work when it is parsed. `debug` is
/// set by --debug and must outlive the command line.
std::unique_ptr<CLI::App> command_line(bool& debug);

/// Whether neither a verb nor a flag is given after `arguments`' verbs, of which one more is
/// needed: then the help is what is wanted. // "ablate", "ablate config"
const CLI::App* without_verb(const CLI::App& app, const std::vector<std::string>& arguments);

/// The first verb or flag of `arguments` that does not exist, as a message with the nearest one
/// that does; empty where all do.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace ablate::experiments
