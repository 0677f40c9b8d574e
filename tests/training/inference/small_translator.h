#pragma once

#include <cmath>
#include <functional>

#include "tests/models/variants.h"
#include "training/inference/translator.h"

namespace ablate::training {

inline const std::vector<data::Example> kSmallText{{"a b c d", "a b c d"}, {"d c", "b a"}};
inline const std::vector<data::Example> kSmallClasses{{"a b c d", "good"}, {"d c", "bad"}};

using Change = std::function<void(models::TransformerOptions&)>;

/// A model of random weights over the words of kSmallText, with what `change` makes of its options;
/// an encoder alone is a classifier. Of a source with the word `broken` it computes NaN.
inline Translator small_translator(uint64_t seed, models::Family family, const Change& change = {},
                                   const std::string& broken = "") {
  const bool classifies = family == models::Family::encoder_only;
  data::DataOptions data = data::Copy{};
  auto tokenizers = data::train_tokenizers({.kind = tokenizer::Kind::word}, kSmallText);
  auto options = models::tiny("layers: 1, feed_forward.d_hidden: 16");
  options.family = family;
  if (!broken.empty()) options.tying = models::Tying::none;
  if (classifies) {
    data = data::Labelled{};
    tokenizers = data::train_tokenizers_of_labelled({.kind = tokenizer::Kind::word}, kSmallClasses);
    options.tying = models::Tying::none;
    options.output = models::LabelHead{};
  }
  if (change) change(options);
  const models::Transformer model(
      options, models::Vocabulary{tokenizers.source.vocabulary_size(), tokenizers.outputs(),
                                  tokenizer::kPad});
  models::initialize(*model, seed);
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.mul_(1.5);
  for (const auto id : tokenizers.source.encode(broken)) model->source_embedding()[id].fill_(NAN);
  return {
      models::InferenceModel(model), std::move(tokenizers),
      data::SequenceFormat(
          data, {.encoder = family != models::Family::decoder_only, .decoder = !classifies}, 9)};
}

}  // namespace ablate::training
