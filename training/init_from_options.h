#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/head_name.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::training {

/// Parts that are dropped from the model that a run starts from, named as in that model: heads as
/// in Michel et al. 2019, whole layers as in Fan et al. 2020.
struct DropOptions {
  std::vector<std::string> heads, layers;

  bool empty() const { return heads.empty() && layers.empty(); }

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads,
          "attention heads, such as encoder.layers.0.attention.3 or "
          "decoder.layers.1.cross_attention.0, counted from 0 on; the weights that read their "
          "output start at zero");
    visit("layers", o.layers,
          "whole layers, such as encoder.layers.1; later ones move up, and model.layers, "
          "encoder_layers or decoder_layers must state how many are left");
  }
  static void rules(const DropOptions& o, auto&& require) {
    for (const auto& text : o.layers) {
      require(models::parse_layer(text).has_value(), "layers",
              "must name layers such as encoder.layers.1, not '" + text + "'");
      require(std::ranges::count(o.layers, text) == 1, "layers", "names " + text + " twice");
    }
    for (const auto& text : o.heads) {
      const auto head = models::parse_head(text);
      require(head.has_value(), "heads",
              "must name heads such as encoder.layers.0.attention.3 or "
              "decoder.layers.1.cross_attention.0, not '" +
                  text + "'");
      require(std::ranges::count(o.heads, text) == 1, "heads", "names " + text + " twice");
      require(!head || std::ranges::count(o.layers, text_of(head->attention.layer)) == 0, "heads",
              "names " + text + ", whose layer is left out as a whole");
    }
  }
};

/// How the neurons of a feed-forward are divided into experts.
ABLATE_ENUM(Grouping, random, clusters, coactivation);

/// The weights of a run that another one starts from: those that it was evaluated with, those of
/// its last or its best checkpoint, or the exponential average of its weights.
ABLATE_ENUM(StartWeights, evaluated, last, best, ema);

/// The finished run whose tokenizer and weights training starts from, if any.
struct InitFromOptions {
  std::optional<std::string> run;
  std::optional<std::string> arm;
  StartWeights weights = StartWeights::evaluated;
  int64_t average = 0;
  DropOptions drop;
  std::vector<std::string> allow;
  std::optional<Grouping> split;
  int64_t positions = 20'000;

  bool given() const { return run || arm; }

  static void fields(auto& o, auto&& visit) {
    visit("run", o.run,
          "run folder, relative to the data folder, whose tokenizer and weights training starts "
          "from; all names and shapes must match; a dense feed-forward initialises every expert of "
          "a mixture of its width");
    visit("arm", o.arm, "the same from this arm's run of the same task and seed");
    visit("weights", o.weights,
          "which of its weights: evaluated (those that it was evaluated with), last, best or ema");
    visit("average", o.average,
          "average this many of its last checkpoints of save_every; 0: no average",
          options::from(0, 1'000'000));
    visit("drop", o.drop, "heads and layers of its model to drop");
    visit("allow", o.allow,
          "weights that may lack a counterpart of their name and shape, each given by its name or "
          "by whole words of it, such as router or decoder.layers.3; tokenizer: take that run's "
          "tokenizer instead of this section's");
    visit("split", o.split,
          "split its relu feed-forwards into the experts (MoEfication): random, clusters or "
          "coactivation; absent: no split");
    visit("positions", o.positions,
          "number of positions to record for grouping neurons and training routers",
          options::from(100, 10'000'000));
  }
  static void rules(const InitFromOptions& o, auto&& require) {
    require(!o.run || !o.arm, "arm", "and run exclude each other");
    require(o.given() || o.weights == StartWeights::evaluated, "weights", "needs run or arm");
    require(o.given() || o.average == 0, "average", "needs run or arm");
    require(o.average == 0 || o.weights == StartWeights::evaluated, "average",
            "and weights exclude each other: it is the mean of the last ones");
    require(o.given() || o.drop.empty(), "drop", "needs run or arm");
    require(o.given() || o.allow.empty(), "allow", "needs run or arm");
    require(std::ranges::none_of(o.allow, &std::string::empty), "allow", "has an empty name");
    require(!o.split || o.drop.empty(), "drop",
            "and split exclude each other; leave the parts out in an arm between");
    require(!o.split || o.given(), "split", "needs run or arm");
  }
};

}  // namespace ablate::training
