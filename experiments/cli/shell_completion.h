#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ablate::cli {

// Type names of options tell what completes them: an option that takes one of several words is
// named {a,b,c}, where capitals stand for any word; of other texts a shell completes files.
inline constexpr const char* kKeyAndValue = "KEY=VALUE";
inline constexpr const char* kKeyPath = "KEY";
inline constexpr const char* kVerb = "VERB";  // one beside the verb that takes it
inline constexpr const char* kCheckpoint = "{best,last,averaged,STEP}";

/// "{a,b,c}"
std::string type_of_words(const std::vector<std::string>& words);

/// A key path of a study and the words that its value can be; none where it is free.
struct CompletedKey {
  std::string path;
  std::vector<std::string> words;
};

/// What a shell needs to complete a command line.
struct Vocabulary {
  const CLI::App& app;
  std::vector<CompletedKey> keys;
};

/// Scripts that the shell sources; they name every verb, flag, word and key, so nothing is started
/// when Tab is pressed.
std::string bash_completion(const Vocabulary& vocabulary);
std::string zsh_completion(const Vocabulary& vocabulary);
std::string fish_completion(const Vocabulary& vocabulary);

}  // namespace ablate::cli
