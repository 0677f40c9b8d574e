#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "models/empty_options.h"

namespace ablate::models {

/// Tokens have the ids 0, 1, 2, ...
struct Consecutive : EmptyOptions {
  static constexpr std::string_view name = "consecutive";
};

/// In training, the ids of every batch are a sorted random subset of 0 ... range - 1, so that ids
/// which only longer inputs would reach are trained as well (Ruoss et al. 2023). Evaluation uses
/// one fixed subset, drawn once: an output then depends neither on its batch nor on how much of it
/// has been written.
struct Randomized {
  static constexpr std::string_view name = "randomized";
  int64_t range = 2048;
  int64_t longest = 512;

  static void fields(auto& o, auto&& visit) {
    visit("range", o.range, "ids are drawn from 0 ... range - 1");
    visit("longest", o.longest, "ids in the subset for evaluation: the longest sequence there");
  }
  static void rules(const Randomized& o, auto&& require) {
    require(o.range >= 2 && o.range <= 1'048'576, "range", "must be from 2 to 1048576");
    require(o.longest >= 1 && o.longest <= o.range, "longest", "must be from 1 to range");
  }
};

/// Which ids the position scheme knows the tokens of a sequence by.
using PositionIdsOptions = std::variant<Consecutive, Randomized>;

}  // namespace ablate::models
