#include "experiments/config/study/study_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>

#include "experiments/config/schema/printer.h"
#include "experiments/config/study/study.h"

namespace ablate::config {
namespace {

constexpr size_t kMostListed = 3;

/// One sentence for all values that the same change of kind drops.
std::vector<std::string> notes_on_dropped(const Trail& trail) {
  std::map<std::string, std::vector<std::string>> keys;  // by the kind
  for (const auto& [path, kind] : trail.dropped) keys[kind].push_back(path);
  std::vector<std::string> sentences;
  for (const auto& [kind, paths] : keys)
    sentences.push_back(fmt::format("{} {} given but ignored, since {}, which has no such key",
                                    fmt::join(paths, ", "), paths.size() == 1 ? "is" : "are",
                                    kind));
  return sentences;
}

/// Notes cross-attention whose number of heads is not given and differs from the model's.
std::vector<std::string> notes_on_heads(const models::TransformerOptions& model,
                                        const Trail& trail) {
  std::vector<std::string> sentences;
  const auto* shared = std::get_if<models::MultiHead>(&model.attention);
  const auto compare = [&](const std::string& place, const auto& choice) {
    const auto* own = std::get_if<models::MultiHead>(&choice);
    const auto key = "model." + place + ".heads";
    if (shared != nullptr && own != nullptr && own->heads != shared->heads &&
        !trail.marks.contains(key))
      sentences.push_back(fmt::format("{} is {} by default, but model.attention.heads is {}", key,
                                      own->heads, shared->heads));
  };
  compare("cross_attention", model.cross_attention);
  return sentences;
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  if (names.size() <= kMostListed) return fmt::format("{}", fmt::join(names, ", "));
  const auto end = names.begin() + kMostListed;
  return fmt::format("{} and {} more", fmt::join(names.begin(), end, ", "),
                     names.size() - kMostListed);
}

void StudyNotes::add(const Place& run, const Experiment& experiment, const Trail& trail) {
  ++count_;
  for (const auto& sentence : notes_on_dropped(trail)) note(sentence, run);
  for (const auto& sentence : notes_on_heads(experiment.model, trail)) note(sentence, run);
  const auto& training = experiment.training;
  if (std::holds_alternative<training::StepBudget>(training.budget))
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
  const auto listed = comparison.test_sets.find(setting.name);
  const auto sets = listed == comparison.test_sets.end() ? 1 : std::ssize(listed->second);
  return arms * sets * std::ranges::count(study.declared_settings, setting.task, &Setting::task);
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

namespace {

constexpr double kMuch = 0.01;  // share of the initial weights in an average

void note_average(const training::TrainingOptions& options, int64_t steps,
                  std::vector<std::string>& notes) {
  if ((options.trains() && options.average == 1) || options.init_from.average == 1)
    notes.emplace_back("the average of one checkpoint is that checkpoint");
  if (options.trains() && options.average > 0 && steps % options.save_every != 0)
    notes.push_back(
        fmt::format("the average is only of checkpoints of training.save_every ({}), so the last "
                    "step, {}, is not in it",
                    options.save_every, steps));
}

/// The average starts at the initial weights, without bias correction.
void note_ema(const training::TrainingOptions& options, int64_t steps,
              std::vector<std::string>& notes) {
  const double left =
      options.trains() && options.ema > 0 ? std::pow(options.ema, static_cast<double>(steps)) : 0;
  if (left >= kMuch)
    notes.push_back(
        fmt::format("after {} steps the exponential average (training.ema: {}) still has {:.3g} % "
                    "of the initial weights, since its start is not corrected",
                    steps, options.ema, 100 * left));
}

void note_warmup(const training::TrainingOptions& options, int64_t steps,
                 std::vector<std::string>& notes) {
  const auto warmup = std::visit([](const training::Warmup& schedule) { return schedule.warmup; },
                                 options.schedule);
  if (options.trains() && steps >= 1 && warmup > steps)
    notes.push_back(
        fmt::format("the warm-up takes {} steps and the run {}, so the learning rate never reaches "
                    "its peak (training.schedule.warmup)",
                    warmup, steps));
}

}  // namespace

std::vector<std::string> training_notes(const training::TrainingOptions& options, int64_t steps) {
  std::vector<std::string> notes;
  note_average(options, steps, notes);
  note_ema(options, steps, notes);
  note_warmup(options, steps, notes);
  return notes;
}

}  // namespace ablate::config
