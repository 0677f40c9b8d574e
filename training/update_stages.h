#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::training {

// A stage of updates is a struct of options in the list of TrainingOptions::given_stages(). Every
// one states
//   given()        whether it does anything
//   capturable     whether passes can be CUDA graphs, which always run the same heads and call no
//                  observer
//   against_ranks  why ranks cannot share the batches of its updates; empty: they can

/// An update of a training.
struct UpdatePlace {
  int64_t step, steps;  // of which the first is 1
  /// The share of training before it.
  double progress = static_cast<double>(step - 1) / static_cast<double>(steps);
};

/// The changes that a stage may make to an update. By default it leaves everything as it is.
struct UpdateStage {
  /// Its batches, of `all`.
  int64_t batches(const UpdatePlace&, int64_t all) const { return all; }
  /// Their mean over a training of many updates.
  double mean_batches(double all) const { return all; }
  /// The longest rows of a batch that has rows of `longest` tokens.
  int64_t row_length(const UpdatePlace&, int64_t longest) const { return longest; }
  /// The further heads that it trains, of `all` that the model has.
  int64_t heads(const UpdatePlace&, int64_t all) const { return all; }

  bool operator==(const UpdateStage&) const = default;
};

/// A linear rise of the batches of an update from 1, rounded up (Merrill et al. 2025, Critical
/// Batch Size Revisited).
struct BatchWarmup : UpdateStage {
  static constexpr bool capturable = true;
  static constexpr std::string_view against_ranks =
      "the first updates of training.batch_warmup have fewer batches than ranks";
  double share = 0.0;

  bool given() const { return share > 0; }
  int64_t batches(const UpdatePlace& now, int64_t all) const {
    const double warmup = share * static_cast<double>(now.steps);
    if (static_cast<double>(now.step) >= warmup) return all;
    return static_cast<int64_t>(
        std::ceil(static_cast<double>(all) * static_cast<double>(now.step) / warmup));
  }
  double mean_batches(double all) const { return all - share * (all - 1) / 2; }
};

/// Rows that are short at the beginning of training (Li et al. 2022, arXiv 2108.06084, section 4).
struct LengthWarmup : UpdateStage {
  static constexpr bool capturable = true;
  static constexpr std::string_view against_ranks = {};
  double share = 0.0;
  int64_t shortest = 8;

  bool given() const { return share > 0; }
  int64_t row_length(const UpdatePlace& now, int64_t longest) const {
    if (now.progress >= share || shortest >= longest) return longest;
    const auto more = static_cast<double>(longest - shortest) * now.progress / share;
    return shortest + static_cast<int64_t>(more);
  }

  static void fields(auto& o, auto&& visit) {
    visit(
        "share", o.share,
        "share of the updates, at the beginning, in which the rows of a batch lengthen evenly from "
        "`shortest` tokens to all; what is cut off is not trained on; 0: none",
        options::from(0, 1));
    visit("shortest", o.shortest,
          "tokens of a row in the first update, of which the first one is only read",
          options::from(2, 65'536));
  }
};

/// When the further heads of a model are trained (Aynetdinov & Akbik 2025, arXiv 2505.22757,
/// section 3): always, or one more of them in each of equal parts of training, or one fewer.
ABLATE_ENUM(Curriculum, none, forward, reverse);

/// How the further heads of model.output.ahead are trained.
struct AheadOptions : UpdateStage {
  static constexpr bool capturable = false;
  static constexpr std::string_view against_ranks = {};
  double weight = 1.0;
  Curriculum curriculum = Curriculum::none;

  bool given() const { return curriculum != Curriculum::none; }
  int64_t heads(const UpdatePlace& now, int64_t all) const {
    if (!given()) return all;
    const int64_t part = (now.step - 1) * (all + 1) / now.steps;
    return curriculum == Curriculum::forward ? part : all - part;
  }

  bool operator==(const AheadOptions&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("weight", o.weight, "factor of the losses of the further heads", options::above(0, 100));
    visit(
        "curriculum", o.curriculum,
        "none: all further heads are trained from the first step on; forward: in equal parts of "
        "training, first none of them and in each part one more; reverse: first all, at last none");
  }
};

/// What an update must not exceed.
struct Bound : UpdateStage {
  double most = 0.0;

  bool given() const { return most > 0; }
};

/// Of the norm of its gradient (Pascanu et al. 2013, arXiv 1211.5063, section 3.2).
struct NormBound : Bound {
  static constexpr bool capturable = true;
  static constexpr std::string_view against_ranks = {};
};

/// Of the scores of attention in its passes (Kimi Team 2025, arXiv 2507.20534, section 2.1).
struct ScoreBound : Bound {
  static constexpr bool capturable = false;
  static constexpr std::string_view against_ranks =
      "training.qk_clip bounds the scores of all batches, which ranks do not share";
};

/// What Clips keeps around the step of an update.
struct ClipOptions {
  NormBound norm;
  ScoreBound scores;
};

}  // namespace ablate::training
