#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "data/data_options.h"
#include "data/sequence_format.h"
#include "models/inference/search_options.h"
#include "models/options/transformer_options.h"
#include "options/record.h"
#include "tokenizer/tokenizer_options.h"
#include "training/training_options.h"

namespace ablate::config {

struct Experiment;
/// The form of the sequences that the experiment's model reads and writes.
data::SequenceFormat format_of(const Experiment& experiment);

/// Whether splitting the feed-forwards of a dense model (MoEfication) can give this model.
bool is_moefied(const models::TransformerOptions& model);

/// Whether positions of a decoder read each other by attention with scores alone.
bool reads_by_attention(const models::TransformerOptions& model);
bool has_batch_norm(const models::TransformerOptions& model);
/// Whether every layer has attention whose scores grow with its queries and keys alone.
bool has_plain_scores(const models::TransformerOptions& model);

/// The resolved options of a run: everything that determines its result except the seed.
struct Experiment {
  /// Paths without a default, which a configuration must give.
  static constexpr auto required = std::to_array<std::string_view>({"data.task"});

  data::DataOptions data;
  tokenizer::TokenizerOptions tokenizer;
  models::TransformerOptions model;
  training::TrainingOptions training;
  models::SearchOptions decoding;

  static void fields(auto& o, auto&& visit) {
    visit("data", o.data, "the examples: text files or a generated task");
    visit("tokenizer", o.tokenizer, "how text becomes tokens");
    visit("model", o.model, "the Transformer");
    visit("training", o.training, "how the model is trained");
    visit("decoding", o.decoding, "how outputs are generated");
  }
  static void rules(const Experiment& o, auto&& require) {
    const bool running = data::is_running(o.data);
    const auto* tokens = std::get_if<data::Tokens>(&o.data);
    const auto* language = std::get_if<data::Language>(&o.data);
    const bool encoder_decoder = o.model.family == models::Family::encoder_decoder;
    const bool alone = o.model.family == models::Family::decoder_only;
    const bool labelled = data::compared_of(o.data) == data::Compared::label;
    const bool encoder = o.model.family == models::Family::encoder_only;
    require(o.training.patience == 0 || !data::tests_on_validation(o.data), "training.patience",
            std::string("would choose weights on the test text; ") + data::kOwnTest);
    require(!running || alone || (encoder && language != nullptr), "model.family",
            "must be decoder_only if data.task is language, tokens or lano, or for language "
            "encoder_only to predict masked tokens");
    require(!encoder || running || labelled, "model.family",
            "cannot be encoder_only here: an encoder writes no text; data.task must be language or "
            "labelled");
    require(labelled == models::predicts_labels(o.model.output), "model.output.kind",
            "must be label if data.task is labelled, and only then");
    require(language == nullptr || !language->diffusion || encoder, "data.diffusion",
            "needs model.family encoder_only, which reads what stands on both sides of a mask");
    require(!encoder || !running || o.tokenizer.mask, "tokenizer.mask",
            "must be true for a masked language model");
    const bool one_embedding = !encoder_decoder || models::one_embedding(o.model.tying);
    require(!one_embedding || !o.training.pretrained_embeddings.source ||
                !o.training.pretrained_embeddings.target,
            "training.pretrained_embeddings.target",
            "and source are one embedding in this model; give one of them");
    const auto* randomized = std::get_if<models::Randomized>(&o.model.position_ids);
    require(randomized == nullptr ||
                randomized->longest >= format_of(o).longest_sequence(o.decoding.max_length),
            "model.position_ids.longest",
            "must be at least the longest sequence of an evaluation: see training.max_length and "
            "decoding.max_length");
    require(o.decoding.beam == 1 || !models::draws(o.decoding.sampling), "decoding.beam",
            "must be 1 if sampling is random: a beam searches, sampling draws");
    ahead_rules(o, require);
    training_rules(o, running && alone, require);
    require(!o.training.init_from.split || is_moefied(o.model), "model.feed_forward",
            "must be a mixture of relu experts with an oracle, similarity or network router, the "
            "same in every layer, if training.init_from.split divides a dense run");
    if (tokens != nullptr) tokens_rules(o, *tokens, require);
    require(o.tokenizer.joint || encoder_decoder, "tokenizer.joint",
            "must be true in a model with one embedding");
    require(o.tokenizer.joint || !models::shares_source(o.model.tying), "tokenizer.joint",
            "must be true if model.tying shares the source embedding; target and none need no "
            "joint tokens");
  }

 private:
  static void mup_rules(const training::TrainingOptions& o, auto&& require) {
    require(training::carries_over_widths(o.optimizer), "model.parametrization.kind",
            "cannot be mup with sgd, sophia, soap, kron, scion or scale original, for whose steps "
            "no rule of the width is known; choose an optimizer of Adam's kind, lion, "
            "schedule_free, or muon or normuon with scale match_rms_adamw");
    require(!o.lora.given(), "model.parametrization.kind",
            "cannot be mup with training.lora, whose adapters have no rule for it");
  }
  /// `unpadded`: whether all rows of a batch are as long as the longest.
  static void training_rules(const Experiment& o, bool unpadded, auto&& require) {
    require(data::block_of(o.data).value_or(0) <= o.training.tokens_per_batch, "data.block",
            "must not exceed training.tokens_per_batch");
    require(!o.training.clips.scores.given() || (unpadded && has_plain_scores(o.model)),
            "training.qk_clip",
            "needs running text and model.family decoder_only, whose rows have no padding, and in "
            "every layer latent attention, or multi_head without qk_norm and forgetting, whose "
            "position is not one that computes the attention itself");
    require(!o.training.length_warmup.given() || unpadded, "training.length_warmup.share",
            "needs running text and model.family decoder_only: other targets have lengths of their "
            "own");
    if (models::goes_by_width(o.model.parametrization)) mup_rules(o.training, require);
    require(!training::averages(o.training.optimizer) || !has_batch_norm(o.model),
            "training.optimizer.kind",
            "cannot be schedule_free with norm batch, whose running means are those of other "
            "weights than the ones that are evaluated");
  }
  static void ahead_rules(const Experiment& o, auto&& require) {
    const auto heads = models::heads_ahead(o.model);
    require(heads > 0 || o.training.ahead == training::AheadOptions(), "training.ahead",
            "has no effect without the further heads of model.output.ahead");
    require(o.decoding.draft <= heads, "decoding.draft",
            "must be at most model.output.ahead, the heads that guess");
    require(o.decoding.draft == 0 || !models::has_sane_depth(o.model, models::Side::decoder) ||
                models::can_forget(o.model),
            "decoding.draft",
            "needs multi_head attention without forgetting, latent attention, or none, in every "
            "layer of the decoder, and no model.canon, model.ngrams or capacity of experts in "
            "evaluation: wrong guesses must be forgotten");
  }
  static void tokens_rules(const Experiment& o, const data::Tokens& tokens, auto&& require) {
    require(tokens.vocabulary || o.tokenizer.file || o.training.init_from.given(),
            "data.vocabulary",
            "must be the number of different ids, unless tokenizer.file or the run of "
            "training.init_from has the tokenizer that wrote them");
    require(!tokens.vocabulary || !o.tokenizer.file, "data.vocabulary",
            "and tokenizer.file exclude each other: a tokenizer has its own vocabulary");
    require(o.tokenizer.dropout == 0, "tokenizer.dropout",
            "must be 0 if data.task is tokens: they are cut already");
    require(!tokens.mask_documents || reads_by_attention(o.model), "data.mask_documents",
            "needs multi_head attention, or none, in every layer, and no model.canon: other mixers "
            "and short convolutions read on across documents");
  }
};

}  // namespace ablate::config

namespace ablate {

// In schema.cpp.
extern template const options::Record& options::record_of<config::Experiment>();
extern template const options::Record& options::record_of<models::TransformerOptions>();

}  // namespace ablate

namespace ablate::config {

inline data::SequenceFormat format_of(const Experiment& o) {
  return {o.data,
          {.encoder = o.model.family != models::Family::decoder_only,
           .decoder = o.model.family != models::Family::encoder_only},
          o.training.max_length};
}

inline bool reads_by_attention(const models::TransformerOptions& model) {
  if (!models::has_sane_depth(model, models::Side::decoder)) return true;  // another rule's fault
  return std::ranges::all_of(
      models::stack_of(model, models::Side::decoder).layers, [](const auto& layer) {
        return layer.canon.places.empty() && traits_of(layer.attention).keeps_documents;
      });
}

/// Whether a layer of the model has statistics over batches.
inline bool has_batch_norm(const models::TransformerOptions& model) {
  const auto has = [](const auto& layer) { return layer.norm.kind == models::NormKind::batch; };
  return std::ranges::any_of(
      std::array{models::Side::encoder, models::Side::decoder}, [&](models::Side side) {
        return models::has_side(model.family, side) && models::has_sane_depth(model, side) &&
               std::ranges::any_of(models::stack_of(model, side).layers, has);
      });
}

inline bool has_plain_scores(const models::TransformerOptions& model) {
  if (!models::has_sane_depth(model, models::Side::decoder)) return true;  // another rule's fault
  return std::ranges::all_of(
      models::stack_of(model, models::Side::decoder).layers, [](const auto& layer) {
        return models::clips_scores(layer.attention) && !traits_of(layer.position).computes_scores;
      });
}

inline bool is_moefied(const models::TransformerOptions& model) {
  const auto* mixture = std::get_if<models::MixtureOptions>(&model.layer.feed_forward);
  const auto alike = [&](const models::SideLayers& layers) {
    return std::ranges::all_of(layers, [&](const auto& layer) {
      return models::equal(layer.feed_forward, model.layer.feed_forward);
    });
  };
  return alike(model.encoder) && alike(model.decoder) && mixture != nullptr && !mixture->gated &&
         mixture->shared_experts == 0 && mixture->match == models::Match::none &&
         mixture->activation == models::Activation::relu && !models::limits(mixture->capacity) &&
         std::visit([]<class Held>(const Held&) { return Held::moefied; }, mixture->router);
}

}  // namespace ablate::config
