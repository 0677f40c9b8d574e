#pragma once

namespace ablate::models {

/// Base of options without keys or without rules; what they have of their own hides these.
struct EmptyOptions {
  static void fields(auto&, auto&&) {}
  static void rules(const auto&, auto&&) {}
};

}  // namespace ablate::models
