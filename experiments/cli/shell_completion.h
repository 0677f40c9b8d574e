#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace ablate::cli {

// The type name of an option says what completes its value: {a,b,STEP} one of these words, where
// capitals stand for any word; another text a file.
inline constexpr const char* kKeyAndValue = "KEY=VALUE";
inline constexpr const char* kKeyPath = "KEY";
inline constexpr const char* kVerb = "VERB";  // one beside the verb that takes it
inline constexpr const char* kCheckpoint = "{best,last,averaged,STEP}";

/// "{a,b,c}"
inline std::string type_of_words(const std::vector<std::string>& words) {
  return fmt::format("{{{}}}", fmt::join(words, ","));
}

}  // namespace ablate::cli
