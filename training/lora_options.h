#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/bounds.h"

namespace ablate::training {

/// Adapters of low rank (LoRA, Hu et al. 2021): a linear map W x becomes W x + alpha / rank B A x,
/// and only A and B are trained.
struct LoraOptions {
  int64_t rank = 0;
  double alpha = 8;
  std::vector<std::string> on = {"attention"};
  std::vector<std::string> train;

  bool given() const { return rank > 0; }

  static void fields(auto& o, auto&& visit) {
    visit("rank", o.rank,
          "rank of the adapters (LoRA), which are trained instead of the model and merged into it "
          "for every use; 0: none",
          options::from(0, 65'536));
    visit("alpha", o.alpha, "adapters are scaled by alpha / rank", options::above(0));
    visit("on", o.on,
          "linear maps of layers that get an adapter, named as in training.freeze: attention, "
          "encoder.layers.2-3, feed_forward.down; queries, keys and values are one map");
    visit("train", o.train, "weights that are trained beside the adapters: norm, classifier");
  }
  static void rules(const LoraOptions& o, auto&& require) {
    require(!o.on.empty(), "on", "must name a linear map");
    require(o.given() || o.train.empty(), "train", "needs rank");
  }
};

}  // namespace ablate::training
