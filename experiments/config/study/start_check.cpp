#include "experiments/config/study/start_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/printer.h"
#include "models/head_name.h"
#include "training/part_names.h"

namespace ablate::config {
namespace {

using models::Side;

/// The word for the tokenizer in training.init_from.allow.
const std::string kTokenizer = "tokenizer";

/// Checkpoints of save_every that a run keeps, or an upper bound if the number of steps is unknown.
int64_t regular_checkpoints(const training::TrainingOptions& options) {
  if (!options.trains()) return 0;
  if (!training::reads_steps(options.budget)) return options.keep;
  return std::min(options.keep, options.steps / std::max<int64_t>(1, options.save_every));
}

class StartCheck {
 public:
  StartCheck(const Experiment& own, const Experiment& source)
      : start_(own.training.init_from), own_(own), source_(source) {}

  std::vector<training::TrainingProblem> problems() && {
    check_tokenizer();
    check_width();
    check_heads();
    check_weights();
    for (const auto& text : start_.drop.heads)
      if (const auto head = models::parse_head(text)) check_head(*head);
    for (const auto& text : start_.drop.layers)
      if (const auto layer = models::parse_layer(text)) check_layer(*layer);
    if (problems_.empty() && !start_.drop.layers.empty())
      for (const auto side : {Side::encoder, Side::decoder}) check_depth(side);
    return std::move(problems_);
  }

 private:
  void need(bool holds, const char* key, const std::string& why) {
    if (!holds) problems_.push_back({join_path("init_from", key), why});
  }

  /// Whether training.init_from.allow lets a weight begin anew: it has a word that is no tokenizer.
  bool allows_weights() const {
    return std::ranges::any_of(start_.allow, [](const auto& word) { return word != kTokenizer; });
  }

  /// Whether it names the weights that make an attention's queries, so that they may begin anew.
  bool allows(const models::AttentionName& attention) const {
    for (const auto* map : {"qkv", "query", "projection"})
      for (const auto& words : start_.allow)
        if (training::is_named(fmt::format("{}.{}.weight", text_of(attention), map), words))
          return true;
    return false;
  }

  const char* place_of_start() const { return start_.arm ? "arm" : "run"; }

  /// The run brings its tokenizer, so the tokenizer options of this configuration must match it.
  void check_tokenizer() {
    if (std::ranges::find(start_.allow, kTokenizer) != start_.allow.end()) return;
    for (const auto& [path, own, others] :
         differences({.tokenizer = own_.tokenizer}, {.tokenizer = source_.tokenizer}))
      need(path == "tokenizer.dropout", place_of_start(),
           fmt::format("brings a tokenizer with {0} {1}, and this configuration has {0} {2}; write "
                       "{0}: {1}, or training.init_from.allow: [{3}]",
                       path, others, own, kTokenizer));
  }

  /// With another width almost no weight has a counterpart of its shape.
  void check_width() {
    need(own_.model.d_model == source_.model.d_model || allows_weights(), place_of_start(),
         fmt::format("brings a model of model.d_model {}, and this configuration has {}; write "
                     "model.d_model: {}",
                     source_.model.d_model, own_.model.d_model, source_.model.d_model));
  }

  /// Another number of heads divides weights of the same shapes in another way.
  void check_heads() {
    const auto sane = [](const models::TransformerOptions& model) {
      return std::ranges::all_of(std::array{Side::encoder, Side::decoder}, [&](Side side) {
        return !models::has_side(model.family, side) || models::has_sane_depth(model, side);
      });
    };
    if (!sane(own_.model) || !sane(source_.model)) return;
    for (const auto& attention : models::attentions_of(own_.model)) {
      const auto own = models::head_count(own_.model, attention);
      const auto others = models::head_count(source_.model, attention);
      if (own == others || own == 0 || others == 0 || allows(attention)) continue;
      return need(false, place_of_start(),
                  fmt::format("brings a model whose {} has {} heads, and this configuration has "
                              "{}, which would divide the same weights in another way; give it {}",
                              text_of(attention), others, own, others));
    }
  }

  void check_weights() {
    using training::StartWeights;
    const auto& source = source_.training;
    const auto regular = regular_checkpoints(source);
    need(start_.average <= regular, "average",
         fmt::format("must be at most {}, the checkpoints of training.save_every that the run it "
                     "starts from keeps",
                     regular));
    need(start_.weights != StartWeights::best || (source.trains() && source.evaluate_every > 0),
         "weights",
         "cannot be best: the run that it starts from has no training.evaluate_every, which the "
         "choice of the best needs");
    need(start_.weights != StartWeights::best || !source.trains() ||
             !training::reads_steps(source.budget) || source.evaluate_every <= source.steps,
         "weights",
         "cannot be best: the run that it starts from ends before the first validation of its "
         "training.evaluate_every");
    need(start_.weights != StartWeights::best || !data::tests_on_validation(own_.data) ||
             !differences({.data = own_.data}, {.data = source_.data}).empty(),
         "weights",
         fmt::format("cannot be best: it was chosen on the test text; {}", data::kOwnTest));
    need(start_.weights != StartWeights::ema || (source.trains() && source.ema > 0), "weights",
         "cannot be ema: the run that it starts from has no training.ema");
  }

  void check_head(const models::HeadName& name) {
    const auto& model = source_.model;
    const auto heads = models::head_count(model, name.attention);
    if (heads == 0)
      return need(false, "drop.heads",
                  fmt::format("names {}, and the model that it starts from has no {} with heads",
                              text_of(name), text_of(name.attention)));
    need(name.head < heads, "drop.heads",
         fmt::format("names {}, and the heads of {} are 0 to {}", text_of(name),
                     text_of(name.attention), heads - 1));
  }

  void check_layer(const models::LayerName& name) {
    const auto& model = source_.model;
    const bool there = models::has_side(model.family, name.side);
    const auto stack = models::stack_of(model, name.side);
    if (!there || name.layer >= stack.depth)
      return need(false, "drop.layers",
                  fmt::format("names {}, and the {} that it starts from has {}", text_of(name),
                              there ? text_of(name.side) : "model",
                              there ? fmt::format("the layers 0 to {}", stack.depth - 1)
                                    : "no " + text_of(name.side)));
    need(stack.different_layers() == stack.depth, "drop.layers",
         fmt::format("names {}, and the {} that it starts from shares its layers (share.layers)",
                     text_of(name), text_of(name.side)));
    need(models::are_alike(stack.layers), "drop.layers",
         fmt::format("names {}, and the layers of the {} that it starts from differ "
                     "(model.changes)",
                     text_of(name), text_of(name.side)));
    const auto scaled = [&](Side side) {
      return models::has_side(model.family, side) &&
             std::ranges::any_of(models::stack_of(model, side).layers, [](const auto& layer) {
               return layer.residual.depth != models::ResidualDepth::none;
             });
    };
    need(!scaled(Side::encoder) && !scaled(Side::decoder), "drop.layers",
         fmt::format("names {}, and the outputs of the other layers depend on the number of layers "
                     "(residual.depth)",
                     text_of(name)));
  }

  /// The model of this configuration must have as many layers as are left.
  void check_depth(Side side) {
    if (!models::has_side(source_.model.family, side) || !models::has_side(own_.model.family, side))
      return;
    const auto has = models::depth_of(source_.model, side);
    const auto own = models::depth_of(own_.model, side);
    const auto left = has - std::ranges::count_if(start_.drop.layers, [&](const auto& text) {
                        const auto layer = models::parse_layer(text);
                        return layer && layer->side == side;
                      });
    need(left > 0, "drop.layers",
         fmt::format("leaves no layer of the {}; keep one", text_of(side)));
    need(left == 0 || own == left, "drop.layers",
         fmt::format("leaves {} of the {} layers of the {}, but this model has {}; write "
                     "model.{}_layers: {}",
                     left, has, text_of(side), own, text_of(side), left));
  }

  const training::InitFromOptions& start_;
  const Experiment& own_;
  const Experiment& source_;
  std::vector<training::TrainingProblem> problems_;
};

}  // namespace

std::vector<training::TrainingProblem> start_problems(const Experiment& own,
                                                      const Experiment& source) {
  return StartCheck(own, source).problems();
}

}  // namespace ablate::config
