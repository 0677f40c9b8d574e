#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "models/options/rotary_scaling_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

class Position;
struct PositionContext;

/// The traits of a scheme, which is not combined with other parts unless it says so. They are
/// measured, like its family, cache and trace, by tests/models/position/compatibility_test.cpp.
struct PositionTraits {
  bool needs_attention = true;      // it acts inside multi-head attention
  bool adds_to_embeddings = false;  // it adds its vectors to the input of a layer
  bool reads_position_ids = true;   // it depends on position ids
  bool tells_order = true;          // an encoder can distinguish orders of its input
  bool shift_free = true;           // an encoder's output stays if all positions are shifted
  bool by_layer = false;            // each layer has its own parameters, rows of one tensor
  bool turns_heads = true;          // queries and keys change before attention multiplies them
  bool computes_scores = true;      // it computes scores itself, from queries and keys
  std::string_view acts_on = "scores", beyond_training = "runs";  // tensors; longer inputs
};

// Every scheme states its traits and has `make`, which is defined with the module in
// position/*.cpp.

struct NoPosition : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about =
      "no position information at all (Haviv et al. 2022, arXiv 2203.16634)";
  static constexpr PositionTraits traits{.needs_attention = false,
                                         .reads_position_ids = false,
                                         .tells_order = false,
                                         .turns_heads = false,
                                         .computes_scores = false,
                                         .acts_on = "nothing"};
  std::shared_ptr<Position> make(const PositionContext& context) const;
};

/// The traits of schemes that add vectors to embeddings.
constexpr PositionTraits added_vectors(std::string_view beyond_training) {
  return {.needs_attention = false,
          .adds_to_embeddings = true,
          .shift_free = false,
          .turns_heads = false,
          .computes_scores = false,
          .acts_on = "embeddings",
          .beyond_training = beyond_training};
}

/// Those of schemes that add a bias to scores.
constexpr PositionTraits added_bias(std::string_view beyond_training = "runs") {
  return {.turns_heads = false, .computes_scores = false, .beyond_training = beyond_training};
}

ABLATE_ENUM(SinusoidalLayout, interleaved, halves);

/// How the timescales of sinusoidal vectors are spread over their width.
ABLATE_ENUM(Frequencies, paper, tensor2tensor);

/// Section 3.5.
struct Sinusoidal {
  static constexpr std::string_view name = "sinusoidal";
  static constexpr std::string_view about =
      "fixed sines and cosines added to the embeddings (Vaswani et al. 2017, arXiv 1706.03762)";
  static constexpr auto traits = added_vectors("runs");
  std::shared_ptr<Position> make(const PositionContext& context) const;

  double base = 10'000.0;
  SinusoidalLayout layout = SinusoidalLayout::interleaved;
  Frequencies frequencies = Frequencies::paper;
  bool every_layer = false;

  static void fields(auto& o, auto&& visit) {
    visit("base", o.base, "wavelengths are between 2 pi and 2 pi base", options::above(1));
    visit("layout", o.layout,
          "interleaved: sine and cosine alternate, as in the paper; halves: all sines, then all "
          "cosines, as in most code (Marian, tensor2tensor)");
    visit("frequencies", o.frequencies,
          "frequency of pair i: paper: base^(-2i / width), also in Marian; tensor2tensor: scaled "
          "so that the lowest is exactly 1 / base");
    visit("every_layer", o.every_layer, "also add the vectors before every later layer");
  }
};

ABLATE_ENUM(Beyond, error, clamp, interpolate);

struct Learned {
  static constexpr std::string_view name = "learned";
  static constexpr std::string_view about =
      "one trained vector for each position, added to the embeddings (Gehring et al. 2017, arXiv "
      "1705.03122)";
  static constexpr auto traits = added_vectors("error, clamp or, in encoders, interpolate");
  std::shared_ptr<Position> make(const PositionContext& context) const;

  int64_t max_length = 512;
  std::optional<double> deviation;
  Beyond beyond = Beyond::error;
  bool every_layer = false;

  static void fields(auto& o, auto&& visit) {
    visit("max_length", o.max_length, "number of positions in the table",
          options::from(1, 1'048'576));
    visit("deviation", o.deviation,
          "standard deviation of the table's initial values; absent: that of unscaled token "
          "embeddings, 1 / sqrt(d_model); sinusoidal vectors have 0.71",
          options::above(0));
    visit("beyond", o.beyond,
          "longer inputs: error; clamp: further positions have the last vector; interpolate: "
          "positions are scaled to the table");
    visit("every_layer", o.every_layer, "also add the vectors before every later layer");
  }
};

ABLATE_ENUM(RotaryLayout, half, interleaved);

struct Rotary {
  static constexpr std::string_view name = "rotary";
  static constexpr std::string_view about =
      "queries and keys turned by angles proportional to their positions (Su et al. 2021, arXiv "
      "2104.09864)";
  static constexpr PositionTraits traits{.turns_heads = true,
                                         .computes_scores = false,
                                         .acts_on = "queries and keys",
                                         .beyond_training = "runs; scaling"};
  std::shared_ptr<Position> make(const PositionContext& context) const;

  double base = 10'000.0;
  RotaryLayout layout = RotaryLayout::half;
  double fraction = 1.0;
  RotaryScaling scaling;

  static void fields(auto& o, auto&& visit) {
    visit("base", o.base, "angle of pair i: position * base^(-2i / width)", options::above(1));
    visit("layout", o.layout,
          "half: dimension i pairs with i + width/2 (GPT-NeoX); interleaved: 2i with 2i+1 (paper)");
    visit("fraction", o.fraction, "share of each head's dimensions that is rotated",
          options::above(0, 1));
    visit("scaling", o.scaling, "how angles shrink for inputs longer than trained");
  }
};

ABLATE_ENUM(Sides, symmetric, two_sided);

struct Alibi {
  static constexpr std::string_view name = "alibi";
  static constexpr std::string_view about =
      "scores lowered in proportion to the distance (Press et al. 2021, ALiBi, arXiv 2108.12409)";
  static constexpr auto traits = added_bias();
  std::shared_ptr<Position> make(const PositionContext& context) const;

  Sides encoder = Sides::symmetric;

  static void fields(auto& o, auto&& visit) {
    visit("encoder", o.encoder,
          "symmetric: by the absolute distance; two_sided: every other head looks only to the left "
          "and the others only to the right");
  }
};

struct T5Bias {
  static constexpr std::string_view name = "t5";
  static constexpr std::string_view about =
      "a trained number for each head and bucket of distances, shared by all layers (Raffel et al. "
      "2019, arXiv 1910.10683)";
  static constexpr auto traits = added_bias("last bucket");
  std::shared_ptr<Position> make(const PositionContext& context) const;

  int64_t buckets = 32;
  int64_t max_distance = 128;

  static void fields(auto& o, auto&& visit) {
    visit("buckets", o.buckets,
          "buckets of distances; encoders use half of them for each direction; all layers share "
          "one table",
          options::from(4, 65'536));
    visit("max_distance", o.max_distance, "distance from which all share the last bucket");
  }
  static void rules(const T5Bias& o, auto&& require) {
    // A decoder has a bucket of its own for each distance below that.
    require(o.max_distance > o.buckets / 2, "max_distance", "must exceed half the buckets");
  }
};

struct Fire {
  static constexpr std::string_view name = "fire";
  static constexpr std::string_view about =
      "a bias by a small network of the distance relative to the query's position (Li et al. 2023, "
      "FIRE, arXiv 2310.04418)";
  static constexpr auto traits = added_bias();
  std::shared_ptr<Position> make(const PositionContext& context) const;

  int64_t hidden = 32;

  static void fields(auto& o, auto&& visit) {
    visit("hidden", o.hidden,
          "width of the network's hidden layer; all layers share one network (FIRE-S)",
          options::from(1, 65'536));
  }
};

ABLATE_ENUM(KerpleKernel, logarithmic, power);

struct Kerple {
  static constexpr std::string_view name = "kerple";
  static constexpr std::string_view about =
      "a trained, conditionally positive definite kernel of the distance (Chi et al. 2022, KERPLE, "
      "arXiv 2205.09921)";
  static constexpr auto traits = added_bias();
  std::shared_ptr<Position> make(const PositionContext& context) const;

  KerpleKernel kernel = KerpleKernel::logarithmic;

  static void fields(auto& o, auto&& visit) {
    visit("kernel", o.kernel,
          "logarithmic: -a ln(1 + b distance); power: -a distance^b; each head has its own a and "
          "b, shared by all layers");
  }
};

/// Divided by 8h/H in head h of H. They are relative to their maximum, at distance 0, which does
/// not change a softmax.
struct Sandwich {
  static constexpr std::string_view name = "sandwich";
  static constexpr std::string_view about =
      "inner products of sinusoidal vectors as a bias of the scores (Chi et al. 2023, Sandwich, "
      "arXiv 2212.10356)";
  static constexpr auto traits = added_bias();
  std::shared_ptr<Position> make(const PositionContext& context) const;

  int64_t width = 128;

  static void fields(auto& o, auto&& visit) {
    visit("width", o.width, "width of the sinusoidal vectors");
  }
  static void rules(const Sandwich& o, auto&& require) {
    require(o.width >= 2 && o.width <= 65'536 && o.width % 2 == 0, "width",
            "must be even, from 2 to 65536");
  }
};

struct Shaw {
  static constexpr std::string_view name = "shaw";
  static constexpr std::string_view about =
      "trained vectors of clipped distances, added to keys and values (Shaw et al. 2018, arXiv "
      "1803.02155)";
  static constexpr PositionTraits traits{.by_layer = true,
                                         .turns_heads = false,
                                         .computes_scores = true,
                                         .acts_on = "scores and values",
                                         .beyond_training = "last vector"};
  std::shared_ptr<Position> make(const PositionContext& context) const;

  int64_t max_distance = 16;
  bool values = true;

  static void fields(auto& o, auto&& visit) {
    visit("max_distance", o.max_distance,
          "distance from which all share a vector; each layer has its own vectors",
          options::from(1, 65'536));
    visit("values", o.values, "also add vectors to the values");
  }
};

struct TransformerXl {
  static constexpr std::string_view name = "transformer_xl";
  static constexpr std::string_view about =
      "scores of content and of sinusoidal distances, each with a trained bias (Dai et al. 2019, "
      "arXiv 1901.02860)";
  static constexpr PositionTraits traits{
      .by_layer = true, .turns_heads = false, .computes_scores = true};
  std::shared_ptr<Position> make(const PositionContext& context) const;

  Frequencies frequencies = Frequencies::paper;

  static void fields(auto& o, auto&& visit) {
    visit("frequencies", o.frequencies,
          "frequency of pair i of the distances' vectors: paper: 10000^(-2i / d_model), as in the "
          "authors' code; tensor2tensor: scaled so that the lowest is exactly 1 / 10000; each "
          "layer has its own biases and projection of distances");
  }
};

struct Cope {
  static constexpr std::string_view name = "cope";
  static constexpr std::string_view about =
      "positions counted by gates of the content (Golovneva et al. 2024, CoPE, arXiv 2405.18719)";
  static constexpr PositionTraits traits{.reads_position_ids = false,
                                         .by_layer = true,
                                         .turns_heads = false,
                                         .computes_scores = true,
                                         .beyond_training = "last vector"};
  std::shared_ptr<Position> make(const PositionContext& context) const;

  int64_t positions = 64;

  static void fields(auto& o, auto&& visit) {
    visit("positions", o.positions,
          "number of count vectors in each layer; higher counts use the last",
          options::from(2, 65'536));
  }
};

/// Every element is a length, softplus of what was projected, and an angle that its position alone
/// gives, so that what is sought and where are told apart.
struct Pope {
  static constexpr std::string_view name = "pope";
  static constexpr std::string_view about =
      "queries and keys of lengths that the content and angles that the position gives "
      "(Gopalakrishnan et al. 2025, PoPE, arXiv 2509.10534)";
  static constexpr PositionTraits traits{.by_layer = true,
                                         .turns_heads = false,
                                         .computes_scores = true,
                                         .acts_on = "queries and keys"};
  std::shared_ptr<Position> make(const PositionContext& context) const;

  double base = 10'000.0;

  static void fields(auto& o, auto&& visit) {
    visit("base", o.base, "angle of element i: position * base^(-i / d_k)", options::above(1));
  }
};

using PositionOptions = std::variant<NoPosition, Sinusoidal, Learned, Rotary, Alibi, T5Bias, Shaw,
                                     Fire, TransformerXl, Kerple, Sandwich, Cope, Pope>;

constexpr const PositionTraits& traits_of(const PositionOptions& position) {
  return std::visit([]<class Held>(const Held&) -> const PositionTraits& { return Held::traits; },
                    position);
}

struct Consecutive : EmptyOptions {
  static constexpr std::string_view name = "consecutive";
  static constexpr std::string_view about = "tokens have the ids 0, 1, 2, ...";
};

/// Drawn for every batch from 0 ... range - 1. Evaluation uses one fixed subset, drawn once: an
/// output then depends neither on its batch nor on how much of it has been written.
struct Randomized {
  static constexpr std::string_view name = "randomized";
  static constexpr std::string_view about =
      "in training a sorted random subset of a larger range, so that the ids of longer inputs are "
      "trained, too (Ruoss et al. 2023, arXiv 2305.16843)";
  int64_t range = 2048;
  int64_t longest = 512;

  static void fields(auto& o, auto&& visit) {
    visit("range", o.range, "ids are drawn from 0 ... range - 1", options::from(2, 1'048'576));
    visit("longest", o.longest, "ids in the subset for evaluation: the longest sequence there");
  }
  static void rules(const Randomized& o, auto&& require) {
    require(o.longest >= 1 && o.longest <= o.range, "longest", "must be from 1 to range");
  }
};

/// The position ids of the tokens of a sequence.
using PositionIdsOptions = std::variant<Consecutive, Randomized>;

}  // namespace ablate::models
