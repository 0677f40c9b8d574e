#include "experiments/config/study/study_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <variant>

#include "experiments/config/schema/printer.h"
#include "experiments/config/study/study.h"

namespace ablate::config {
namespace {

constexpr size_t kMostListed = 3;

std::string ignored(const std::vector<std::string>& keys, const std::string& why) {
  return fmt::format("{} {} given but ignored, since {}", fmt::join(keys, ", "),
                     keys.size() == 1 ? "is" : "are", why);
}

/// One sentence for all values that the same change of kind drops.
std::vector<std::string> notes_on_dropped(const Tree& tree) {
  std::map<std::string, std::vector<std::string>> keys;  // by the kind
  for (const auto& [path, kind] : tree.dropped)
    if (!tree.has(path)) keys[kind].push_back(path);
  std::vector<std::string> sentences;
  for (const auto& [kind, paths] : keys)
    sentences.push_back(ignored(paths, kind + ", which has no such key"));
  return sentences;
}

/// A key or a section that nothing reads in a run, but for one key of it, and why.
struct Unread {
  bool holds;
  std::string path;
  std::string why;
  std::string but = {};
};

std::vector<Unread> unread_of_data(const Experiment& run) {
  const auto* language = std::get_if<data::Language>(&run.data);
  const auto* tokens = std::get_if<data::Tokens>(&run.data);
  const bool encoder = run.model.family == models::Family::encoder_only;
  const bool labels = models::predicts_labels(run.model.output);
  const bool fills = language != nullptr && language->diffusion;
  const bool hides = language != nullptr && encoder && !fills;
  return {{language != nullptr && language->validation, "data.held_out",
           "data.validation names the text"},
          {language != nullptr && !hides, "data.masked",
           fills ? "data.diffusion takes its place" : "the model reads no masks"},
          {tokens != nullptr && tokens->vocabulary, "tokenizer",
           "data.vocabulary says that the ids are written as numbers"},
          {labels, "decoding", "a classifier searches for no text", "decoding.batch"},
          {hides, "decoding", "a masked language model writes no text"}};
}

/// Whether every layer of a model is so.
bool all_layers(const models::TransformerOptions& model, const auto& is_so) {
  return std::ranges::all_of(
      std::array{models::Side::encoder, models::Side::decoder}, [&](models::Side side) {
        if (!models::has_side(model.family, side)) return true;
        const auto& list = models::list_of(model, side);
        return list.empty() ? is_so(model.layer) : std::ranges::all_of(list, is_so);
      });
}

/// Whether the router of every layer is so.
bool all_routers(const models::TransformerOptions& model, const auto& is_so) {
  return all_layers(model, [&](const models::LayerOptions& layer) {
    const auto* mixture = std::get_if<models::MixtureOptions>(&layer.feed_forward);
    return mixture != nullptr && std::visit(is_so, mixture->router);
  });
}

/// Whether attention or embeddings may have norms of their own, with the epsilon of the layers'.
bool has_inner_norms(const models::TransformerOptions& model) {
  const auto plain = [](const auto& attention) {
    const auto* heads = std::get_if<models::MultiHead>(&attention);
    return heads != nullptr && heads->qk_norm == models::QkNorm::none;
  };
  const bool pair = model.family == models::Family::encoder_decoder;
  return model.embedding_norm != models::EmbeddingNorm::none ||
         !all_layers(model, [&](const models::LayerOptions& layer) {
           const auto* own = std::get_if<models::MultiHead>(&layer.cross_attention);
           return plain(layer.attention) &&
                  (!pair || own == nullptr || plain(layer.cross_attention));
         });
}

std::vector<Unread> unread_of_model(const models::TransformerOptions& model) {
  using models::NormKind;
  const auto every_norm = [&](std::initializer_list<NormKind> kinds) {
    return all_layers(model, [&](const models::LayerOptions& layer) {
      return std::ranges::find(kinds, layer.norm.kind) != kinds.end();
    });
  };
  const bool no_canon = all_layers(
      model, [](const models::LayerOptions& layer) { return layer.canon.places.empty(); });
  const bool no_norm = every_norm({NormKind::none});
  const bool sequential = all_layers(model, [](const models::LayerOptions& layer) {
    return layer.block == models::Block::sequential;
  });
  const std::string no_norms = "layers have no norms";
  const std::string no_places = "model.canon.places is empty";
  const bool no_scores = all_routers(model, []<class Held>(const Held&) {
    return Held::moefied || std::is_same_v<Held, models::HashRouter>;
  });
  const bool fixed = all_routers(model, []<class Held>(const Held&) { return Held::fixes_loads; });
  return {{every_norm({NormKind::layer, NormKind::rms, NormKind::batch, NormKind::none}),
           "model.norm.alpha", "no norm is tanh"},
          {every_norm({NormKind::rms, NormKind::none}), "model.norm.bias",
           "no norm has a bias, as layer, batch and tanh have"},
          {every_norm({NormKind::tanh, NormKind::none}) && !has_inner_norms(model),
           "model.norm.epsilon", "no norm divides by a root"},
          {no_norm && sequential, "model.norm.placement", no_norms},
          {no_norm, "model.norm.attention", no_norms},
          {!model.share.layers, "model.share.order", "model.share.layers is absent"},
          {no_canon, "model.canon.width", no_places},
          {no_canon, "model.canon.residual", no_places},
          {no_scores, "model.feed_forward.balance", "its router has no scores that train"},
          {fixed, "model.feed_forward.balance.load", "its router gives all experts one load"}};
}

/// Whether an optimizer that has these keys decays no weight.
bool decays_nothing(const training::OptimizerOptions& optimizer) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires { held.cautious_decay; }) return held.weight_decay == 0;
        return false;
      },
      optimizer);
}

std::vector<Unread> unread_of_training(const Experiment& run) {
  const auto& training = run.training;
  const auto& model = run.model;
  const auto says = [&](models::Side side, const std::optional<int64_t>& layers) {
    return !models::has_side(model.family, side) || layers;
  };
  const bool tied = model.tying != models::Tying::embeddings && model.tying != models::Tying::none;
  const std::string one_matrix = "model.tying makes the output one with an embedding";
  const bool kept = decays_nothing(training.optimizer);
  const std::string no_decay = "training.optimizer.weight_decay is 0";
  return {
      {training.trains() && !training::reads_steps(training.budget), "training.steps",
       "training.budget gives their number"},
      {!training.length_warmup.given(), "training.length_warmup.shortest",
       "training.length_warmup.share is 0"},
      {!training.lora.given(), "training.lora", "training.lora.rank is 0", "training.lora.rank"},
      {!training.init_from.split, "training.init_from.positions",
       "training.init_from.split divides nothing"},
      {tied, "training.lr_multipliers.output", one_matrix},
      {tied, "model.initialization.output", one_matrix},
      {kept, "training.optimizer.cautious_decay", no_decay},
      {kept, "training.optimizer.independent_decay", no_decay},
      {says(models::Side::encoder, model.encoder_layers) &&
           says(models::Side::decoder, model.decoder_layers),
       "model.layers", "every side has a number of its own"}};
}

/// One sentence for all keys that are given and not read for the same reason.
std::vector<std::string> notes_on_unread(const Experiment& run, const Tree& tree) {
  std::vector<std::string> sentences;
  auto all = unread_of_data(run);
  for (auto& more : {unread_of_model(run.model), unread_of_training(run)})
    all.insert(all.end(), more.begin(), more.end());
  for (const auto& [holds, path, why, but] : all) {
    const auto* given = holds ? tree.find(path) : nullptr;
    if (given == nullptr) continue;
    std::vector<std::string> keys;
    const Value section{.entries = {{path, given->mark, given->value}}};
    for (const auto& [key, entry] : leaves_of(section))
      if (key != but) keys.push_back(key);
    std::ranges::sort(keys);
    if (!keys.empty()) sentences.push_back(ignored(keys, why));
  }
  return sentences;
}

/// Notes cross-attention whose number of heads is not given and differs from the model's.
std::vector<std::string> notes_on_heads(const models::TransformerOptions& model, const Tree& tree) {
  constexpr std::string_view kKey = "model.cross_attention.heads";
  const auto* shared = std::get_if<models::MultiHead>(&model.layer.attention);
  const auto* own = std::get_if<models::MultiHead>(&model.layer.cross_attention);
  if (shared == nullptr || own == nullptr || own->heads == shared->heads || tree.has(kKey))
    return {};
  return {fmt::format("{} is {} by default, but model.attention.heads is {}", kKey, own->heads,
                      shared->heads)};
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  if (names.size() <= kMostListed) return fmt::format("{}", fmt::join(names, ", "));
  const auto end = names.begin() + kMostListed;
  return fmt::format("{} and {} more", fmt::join(names.begin(), end, ", "),
                     names.size() - kMostListed);
}

void StudyNotes::add(const Place& run, const Experiment& experiment, const Tree& tree) {
  ++count_;
  for (const auto& sentence : notes_on_dropped(tree)) note(sentence, run);
  for (const auto& sentence : notes_on_unread(experiment, tree)) note(sentence, run);
  for (const auto& sentence : notes_on_heads(experiment.model, tree)) note(sentence, run);
  const auto& training = experiment.training;
  if (training::reads_steps(training.budget))
    for (const auto& sentence : training_notes(training, training.steps)) note(sentence, run);
  if (!meaning_.contains(run.arm)) arms_.push_back(run.arm);
  meaning_[run.arm] += run.task + "\n" + canonical(experiment);
}

void StudyNotes::add_match(const Place& run, const std::string& key, const Matched& matched) {
  note(fmt::format("match: {} is {}, which gives {} parameters; the baseline has {}, both with a "
                   "vocabulary of {}",
                   key, matched.value, matched.parameters, matched.baseline, matched.vocabulary),
       run);
}

void StudyNotes::note(const std::string& sentence, const Place& run) {
  if (!runs_.contains(sentence)) order_.push_back(sentence);
  runs_[sentence].push_back(run.task + "/" + run.arm);
}

std::vector<std::string> StudyNotes::equal_arms() const {
  std::vector<std::string> sentences;
  std::map<std::string, std::string> first;  // meaning -> arm
  for (const auto& arm : arms_) {
    const auto [found, is_new] = first.try_emplace(meaning_.at(arm), arm);
    if (!is_new)
      sentences.push_back(
          fmt::format("the arms '{}' and '{}' are the same: their changes make no difference",
                      found->second, arm));
  }
  return sentences;
}

std::vector<std::string> StudyNotes::sentences() const {
  auto sentences = equal_arms();
  for (const auto& sentence : order_) {
    const auto& runs = runs_.at(sentence);
    sentences.push_back(runs.size() == count_ ? sentence
                                              : fmt::format("{} ({})", sentence, listed(runs)));
  }
  return sentences;
}

namespace {

/// Comparisons with a margin that are corrected together with those of this setting.
int64_t comparisons_with_margins(const Study& study, const Setting& setting) {
  const auto& comparison = *study.compare;
  const auto arms = std::ranges::count_if(study.configurations, [&](const auto& run) {
    return run.task == setting.name && run.arm != comparison.baseline &&
           claim_of(comparison, run.task, run.arm).margin;
  });
  return arms * count_primary_sets(comparison, setting.name) *
         std::ranges::count(study.declared_settings, setting.task, &Setting::task);
}

}  // namespace

std::vector<std::string> notes_on_seeds(const Study& study) {
  if (!study.compare || study.compare->test != PairedTest::sign_flip) return {};
  int64_t comparisons = 0;
  for (const auto& setting : study.settings)
    comparisons = std::max(comparisons, comparisons_with_margins(study, setting));
  int64_t needed = 0;
  while (comparisons > 0 &&
         std::ldexp(0.05, static_cast<int>(needed)) < static_cast<double>(comparisons))
    ++needed;
  const auto seeds = std::ssize(study.seeds);
  if (seeds >= needed) return {};
  return {fmt::format(
      "{} seed{} cannot show that an arm is equal or no worse: {} comparison{} with a margin "
      "take{} {} (docs/statistics.md)",
      seeds, seeds == 1 ? "" : "s", comparisons, comparisons == 1 ? "" : "s",
      comparisons == 1 ? "s" : "", needed)};
}

}  // namespace ablate::config
