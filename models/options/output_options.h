#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "models/options/feed_forward_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

ABLATE_ENUM(Pool, first, mean);

/// Members of every head.
struct Head {
  static constexpr bool predicts_labels = false;
  double scale = 1.0;
  double softcap = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("scale", o.scale, "factor of the logits before their bias, as in muP (Yang et al. 2022)",
          options::above(0, 1000));
    visit("softcap", o.softcap,
          "cap of the logits (final_logit_softcapping): they become softcap * tanh(logit / "
          "softcap), as in Gemma 2; 0: no cap",
          options::at_least(0));
  }
};

struct LmHead : Head {
  static constexpr std::string_view name = "tokens";
  static constexpr std::string_view about = "logits of the vocabulary's tokens at every position";
  bool bias = false;
  std::optional<Activation> transform;
  int64_t ahead = 0;

  static void fields(auto& o, auto&& visit) {
    Head::fields(o, visit);
    visit("bias", o.bias, "a bias of every token's logit");
    visit("transform", o.transform,
          "activation of a projection, with a norm behind it, of the stack's output, as in BERT's "
          "masked head; absent: no such projection");
    visit("ahead", o.ahead,
          "further heads of multi-token prediction, each a layer beside the last one and the same "
          "projection to the vocabulary: the first of them predicts the token behind the next one",
          options::from(0, 16));
  }
};

/// Section 4.1.
struct LabelHead : Head {
  static constexpr std::string_view name = "label";
  static constexpr std::string_view about =
      "logits of the class of a whole sequence (Devlin et al. 2018, arXiv 1810.04805)";
  static constexpr bool predicts_labels = true;
  Pool pool = Pool::first;
  double dropout = 0.0;

  static void fields(auto& o, auto&& visit) {
    Head::fields(o, visit);
    visit("pool", o.pool,
          "first: the output at the start token, as at BERT's [CLS]; mean: of all positions");
    visit("dropout", o.dropout,
          "dropout probability of the classifier's input in training (classifier_dropout)",
          options::from_below(0, 1));
  }
};

using HeadOptions = std::variant<LmHead, LabelHead>;

/// Whether what a head predicts are classes, not tokens.
constexpr bool predicts_labels(const HeadOptions& head) {
  return std::visit([]<class Held>(const Held&) { return Held::predicts_labels; }, head);
}

}  // namespace ablate::models
