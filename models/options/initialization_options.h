#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

/// How initial values depend on the depth of a stack. sqrt divides by sqrt(2 L) in a stack of
/// attention and feed-forward (Radford et al. 2019, section 2.3); zero is also in Yang et al. 2022,
/// section D.2; deepnorm multiplies by (8 L)^(-1/4) of L layers, and in an encoder-decoder of N and
/// M layers by 0.87 (N^4 M)^(-1/16) and (12 M)^(-1/4); matrices of queries, keys and gates start as
/// without it (Wang et al. 2022, figure 2).
ABLATE_ENUM(DepthScaling, none, sqrt, zero, deepnorm);
constexpr auto abouts(DepthScaling) {
  return std::to_array<std::string_view>(
      {"not by depth",
       "matrices whose products are added to the residual stream start smaller, by the root of the "
       "number of additions (Radford et al. 2019)",
       "these matrices start at zero, so that at first every layer returns its input (Zhang et al. "
       "2019, Fixup, arXiv 1901.09321)",
       "matrices of values, outputs of attention and feed-forwards start smaller, as in DeepNorm "
       "(Wang et al. 2022, arXiv 2203.00555)"});
}

// Every initialization states
//   fits_widths  whether a parametrization by width can have it

/// Members of every initialization. Matrices within layers also have a gain or a standard
/// deviation.
struct Initialization {
  DepthScaling depth = DepthScaling::none;
  double embeddings = 1.0, output = 1.0;

  static void fields(auto& o, auto&& visit) {
    visit("depth", o.depth, "how initial values depend on the depth of the stack");
    visit("embeddings", o.embeddings,
          "factor of the initial values of token embeddings and of an output tied to them",
          options::above(0, 1000));
    visit("output", o.output, "factor of the initial values of an untied output projection",
          options::above(0, 1000));
  }
};

/// Within gain sqrt(6 / (rows + columns)); embeddings are normal with d_model^-1/2.
struct XavierInitialization : Initialization {
  static constexpr std::string_view name = "xavier";
  static constexpr std::string_view about =
      "every matrix of a layer uniform by its number of inputs and outputs (Glorot & Bengio 2010)";
  static constexpr bool fits_widths = true;
  double gain = 1.0;

  static void fields(auto& o, auto&& visit) {
    Initialization::fields(o, visit);
    visit("gain", o.gain, "factor of the uniform bound of every matrix within layers",
          options::above(0, 100));
  }
};

inline constexpr auto kDeepNormIsForXavier =
    "can be deepnorm only if kind is xavier, which DeepNorm's factors are for";

struct NormalInitialization : Initialization {
  static constexpr std::string_view name = "normal";
  static constexpr std::string_view about =
      "matrices of layers, embeddings and output normal with one deviation (Radford et al. 2019)";
  static constexpr bool fits_widths = true;
  double deviation = 0.02;
  std::optional<double> cutoff;

  static void fields(auto& o, auto&& visit) {
    Initialization::fields(o, visit);
    visit("deviation", o.deviation,
          "standard deviation of matrices within layers, of embeddings and of the output",
          options::above(0, 100));
    visit("cutoff", o.cutoff,
          "no value is more than this many deviations from 0 (initializer_cutoff_factor); absent: "
          "values have no bound",
          options::from(1, 5));
  }
  static void rules(const NormalInitialization& o, auto&& require) {
    require(o.depth != DepthScaling::deepnorm, "depth", kDeepNormIsForXavier);
  }
};

/// As in the code of Mesh TensorFlow: matrices within layers are normal with factor / sqrt(inputs),
/// those of multi-head queries with 1 / sqrt(d_k) of that, since T5 does not scale scores;
/// embeddings and output with factor, and tables of positions with factor / sqrt(d_model).
struct T5Initialization : Initialization {
  static constexpr std::string_view name = "t5";
  static constexpr std::string_view about =
      "T5's normal values, with a deviation for each kind of matrix (Raffel et al. 2019, arXiv "
      "1910.10683)";
  static constexpr bool fits_widths = false;  // its deviations depend on the width
  double factor = 1.0;

  static void fields(auto& o, auto&& visit) {
    Initialization::fields(o, visit);
    visit("factor", o.factor, "factor of all deviations (initializer_factor)",
          options::above(0, 100));
  }
  static void rules(const T5Initialization& o, auto&& require) {
    require(o.depth != DepthScaling::deepnorm, "depth", kDeepNormIsForXavier);
  }
};

/// How parameters start. Norms, biases, routers, recurrent mixers and position schemes start as
/// they state themselves.
using InitializationOptions =
    std::variant<XavierInitialization, NormalInitialization, T5Initialization>;

constexpr bool fits_widths(const InitializationOptions& initialization) {
  return std::visit([]<class Held>(const Held&) { return Held::fits_widths; }, initialization);
}

// Every parametrization states
//   by_width                 whether rates and initial values depend on the width
//   base_width_for(d_model)  the width at which a model of `d_model` is the standard one

struct Standard : EmptyOptions {
  static constexpr std::string_view name = "standard";
  static constexpr std::string_view about =
      "values, learning rates and scales as they are written, at every width";
  static constexpr bool by_width = false;
  static constexpr int64_t base_width_for(int64_t d_model) { return d_model; }
};

/// Table 8. If d_model is m times `base_width`, matrices within layers learn at 1/m of the rate
/// (with Muon and NorMuon at 1/sqrt(m), except for router scores and head gates) and start with 1/m
/// of the variance, embeddings and output start as at the base width, logits are multiplied by 1/m,
/// and scores of multi-head attention by sqrt(base d_k) / d_k, or by 1/m times a given or learned
/// scale; scores of residual_mix attention are multiplied by 1/m, too, and those of linear
/// attention stay unchanged. Decoupled weight decay does not become smaller with these rates, so a
/// step takes the same share off a matrix at every width. At the base width the model is the
/// standard one. All widths are assumed to grow in proportion: d_hidden with d_model, and d_k
/// unless it is given; if it is, the number of heads grows. The learning rates are for optimizers
/// whose steps do not depend on a gradient's size, and not for SOAP and Kron.
struct MaximalUpdate {
  static constexpr std::string_view name = "mup";
  static constexpr std::string_view about =
      "the maximal update parametrization, whose best learning rate is about the same at every "
      "width (Yang et al. 2022, arXiv 2203.03466)";
  static constexpr bool by_width = true;
  constexpr int64_t base_width_for(int64_t) const { return base_width; }
  int64_t base_width = 64;

  static void fields(auto& o, auto&& visit) {
    visit("base_width", o.base_width,
          "d_model at which muP equals the standard parametrization; in a model m times as wide, "
          "matrices have 1/m of the learning rate (with muon and normuon 1/sqrt(m)) and the same "
          "weight decay",
          options::from(1, 65'536));
  }
};

using ParametrizationOptions = std::variant<Standard, MaximalUpdate>;

/// The width at which a model of `d_model` is the standard one.
constexpr int64_t base_width_of(const ParametrizationOptions& parametrization, int64_t d_model) {
  return std::visit([&](const auto& held) { return held.base_width_for(d_model); },
                    parametrization);
}

constexpr bool goes_by_width(const ParametrizationOptions& parametrization) {
  return std::visit([]<class Held>(const Held&) { return Held::by_width; }, parametrization);
}

}  // namespace ablate::models
