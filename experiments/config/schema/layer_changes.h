#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/tree.h"

namespace ablate::config {

/// The keys of a change that select its layers.
struct ChangePlace {
  std::optional<int64_t> every;
  std::vector<int64_t> at;
  std::optional<models::Side> side;

  static void fields(auto& o, auto&& visit) {
    visit("every", o.every, "k: the layers k, 2k, 3k, ...; absent: see at");
    visit("at", o.at, "numbers of the layers, counted from 1; without every and at: all layers");
    visit("side", o.side, "encoder or decoder; absent: both");
  }
};

/// An experiment and the tree of the values that a study gave it. A layer that `changes` select has
/// a section of its own in the tree, such as model.encoder.3, with the values of the whole model
/// that it keeps.
struct Layered {
  Experiment experiment;
  Tree tree;
};

/// Decodes a tree, once all values are laid over it. The layers of both sides are copies of the
/// model's layer, overlaid with the values of `encoder`, `decoder` and `changes` in this order.
/// The keys of a classifier that its task leaves no choice for follow from data.task. Reports a
/// change that matches no layer, and one that later changes override entirely.
Layered decoded(const Tree& tree, ProblemList& problems);

}  // namespace ablate::config
