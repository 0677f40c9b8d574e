#pragma once

namespace ablate::models {

/// Base of a choice that has no keys of its own.
struct EmptyOptions {
  template <class Self, class Visit>
  static void fields(Self&, Visit&&) {}
  template <class Require>
  static void rules(const EmptyOptions&, Require&&) {}
};

}  // namespace ablate::models
