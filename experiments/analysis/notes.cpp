#include "experiments/analysis/notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "experiments/analysis/claims.h"
#include "experiments/analysis/compared.h"
#include "experiments/analysis/control.h"
#include "experiments/analysis/curve.h"
#include "experiments/analysis/fairness.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/analysis/statement.h"
#include "experiments/analysis/tuned_values.h"
#include "experiments/config/study/study_notes.h"
#include "experiments/config/yaml/value.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {
namespace {

std::vector<std::string> flaws_of(const records::RunResult& run) {
  std::vector<std::string> flaws;
  if (run.skipped_lines > 0)
    flaws.push_back(fmt::format("{} bad lines left out", run.skipped_lines));
  if (run.repeated_pairs + run.lopsided_pairs > 0)
    flaws.push_back(fmt::format(
        "{} training pairs left out that had come before, and {} whose sides differ too much in "
        "length (data.filter)",
        run.repeated_pairs, run.lopsided_pairs));
  if (run.cut_sources + run.cut_targets > 0)
    flaws.push_back(
        fmt::format("{} sources and {} targets of the training set cut at the length limit",
                    run.cut_sources, run.cut_targets));
  if (run.skipped_updates > 0)
    flaws.push_back(fmt::format("{} updates left out (not finite)", run.skipped_updates));
  if (run.target_vocabulary > 0 &&
      config::is_above(run.validation_perplexity, static_cast<double>(run.target_vocabulary)))
    flaws.push_back(fmt::format(
        "the validation perplexity is above {}, which guessing among all tokens of a target would "
        "give: nothing has been learned, or training has diverged",
        run.target_vocabulary));
  return flaws;
}

/// A sentence for each note, behind the names that it is of.
void add_by_note(const std::map<std::string, std::vector<std::string>>& names_of,
                 std::vector<std::string>& notes) {
  for (const auto& [note, names] : names_of)
    notes.push_back(fmt::format("{}: {}.", config::listed(names), note));
}

void add_flaws(std::span<const records::RunResult> results, std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::string>> runs;  // flaw -> task/arm/seed
  for (const auto& run : results)
    for (const auto& flaw : flaws_of(run))
      runs[flaw].push_back(records::label(run.task, run.arm, run.seed));
  add_by_note(runs, notes);
}

void add_scoring(std::span<const records::RunResult> results, std::vector<std::string>& notes) {
  const auto decoded = std::ranges::find_if(
      results, [](const records::RunResult& run) { return !run.bleu_signature.empty(); });
  if (decoded == results.end()) return;
  notes.push_back("BLEU: " + decoded->bleu_signature);
  notes.push_back("chrF: " + decoded->chrf_signature);
  notes.emplace_back("Token accuracy is teacher-forced; the other scores are of decoded text.");
}

/// The meaning of the cost to a target.
void add_targets(const Evidence& evidence, std::vector<std::string>& notes) {
  for (const auto& task : evidence.tasks)
    if (!task.target.empty())
      notes.push_back(fmt::format(
          "{}: cost to {}: what training has spent when the validation set first gets there, read "
          "off a straight line between two validations. \"> N\" is a bound: a run has spent N "
          "without getting there; \"< N\": it was there at its first validation. What is computed "
          "of bounds is one, too.",
          task.name, task.target));
}

/// How good the declared forecasts were.
void add_forecasts(const Evidence& evidence, std::vector<std::string>& notes) {
  std::vector<statistics::ForecastScore> scores;
  for (const auto& one : compared_in(evidence.tasks))
    if (one.contrast().forecast) scores.push_back(*one.contrast().forecast);
  if (scores.empty()) return;
  double brier = 0;
  for (const auto& score : scores) brier += score.brier / static_cast<double>(scores.size());
  notes.push_back(fmt::format(
      "Forecasts: {} of {} differences are within their 80 % intervals, and their signs have a "
      "Brier score of {:.2f} (0: all known, 0.25: guessed).",
      std::ranges::count_if(scores, &statistics::ForecastScore::inside), scores.size(), brier));
}

/// Test sets with examples of the training data. Lines of running text repeat anyway, so such a
/// test set is reported only if most of it is known.
void add_known_examples(std::span<const records::RunResult> results,
                        std::vector<std::string>& notes) {
  std::set<std::string> told;
  for (const auto& run : results)
    for (const auto& test : run.tests) {
      const bool running = test.compared == data::Compared::nothing;
      if (test.in_training == 0 || (running && 2 * test.in_training < test.examples)) continue;
      auto note = fmt::format("{}: {} of the {} examples of {} are also in the training data.",
                              run.task, test.in_training, test.examples, test.name);
      if (told.insert(note).second) notes.push_back(std::move(note));
    }
}

/// The tokens that scores of files of tokens are of.
void add_scored_tokens(std::span<const records::RunResult> results,
                       std::vector<std::string>& notes) {
  std::set<std::string> told;
  for (const auto& run : results)
    for (const auto& test : run.tests) {
      if (test.compared != data::Compared::tokens) continue;
      auto note = fmt::format(
          "{}: loss and perplexity on {} are means over {} tokens of its file, whose text is not "
          "known, and so there is no score by character.",
          run.task, test.name, test.tokens);
      if (told.insert(note).second) notes.push_back(std::move(note));
    }
}

/// Tasks whose arms have different tokenizers.
void add_tokens(const Evidence& evidence, std::vector<std::string>& notes) {
  for (const auto& task : evidence.tasks)
    if (!task.same_tokens)
      notes.push_back(fmt::format(
          "{}: the arms cut text into different tokens, so perplexity, loss and token accuracy, "
          "which count by tokens, do not compare; nats and bits per character do.",
          task.name));
}

void add_choices(const config::Study& study, std::vector<std::string>& notes) {
  if (study.tuning && study.tuning->on_test_text)
    notes.emplace_back(
        "tune.on_test_text: the values of each arm may have been chosen on the text that tests it, "
        "and scores then flatter what has more or better values to choose from.");
  if (study.tuning && study.tuning->by == config::TunedBy::shared)
    notes.emplace_back(
        "tune.by: shared: all seeds of an arm have the values of one search, so that how lucky "
        "that search was is in no interval and in no p; tune.by: seed contains it.");
}

/// "arms a, b" for the noun "arm"; empty if there are no parts.
template <class Part>
std::string late_words(const std::string& noun, const std::vector<Part>& parts) {
  if (parts.empty()) return "";
  return fmt::format("{}{} {}", noun, parts.size() == 1 ? "" : "s", fmt::join(parts, ", "));
}

/// Seeds of a study that may be looked at often are added by right.
void add_late(const config::Study& study, std::vector<std::string>& notes) {
  const auto& late = study.late;
  if (!late.seeds.empty() && !study.looks_often())
    notes.push_back(fmt::format(
        "Added after a report of the other seeds had been made: {}. Adding seeds until a "
        "difference is shown makes false claims more frequent than 5 %.",
        late_words("seed", late.seeds)));
  std::vector<std::string> others{late_words("arm", late.arms), late_words("task", late.tasks),
                                  late_words("size", late.sizes), late_words("value", late.values)};
  std::erase(others, "");
  if (!others.empty())
    notes.push_back(fmt::format(
        "Added after a report of the others had been made: {}. Adding comparisons until one shows "
        "a difference makes false claims more frequent than 5 %.",
        fmt::join(others, "; ")));
}

/// The first run of the arm with recorded initial weights; null if no run has them.
const records::RunResult* started_run(std::span<const records::RunResult> results,
                                      const std::string& task, const std::string& arm,
                                      std::optional<int64_t> seed = {}) {
  const auto found = std::ranges::find_if(results, [&](const records::RunResult& run) {
    return run.task == task && run.arm == arm && (!seed || run.seed == *seed) &&
           !run.initial_weights.empty();
  });
  return found == results.end() ? nullptr : &*found;
}

/// The share of initial weights that an arm has in common with its baseline: the effect of pairing
/// by seed.
void add_pairing(const Evidence& evidence, std::span<const records::RunResult> results,
                 std::vector<std::string>& notes) {
  for (const auto& task : evidence.tasks) {
    std::string shares;
    for (const auto& arm : task.arms) {
      const auto* baseline = baseline_of(task, arm);
      const auto* run = baseline == nullptr ? nullptr : started_run(results, task.name, arm.name);
      if (run == nullptr) continue;
      const auto* base = started_run(results, task.name, baseline->name, run->seed);
      // The initial weights of a run that was not trained are the trained weights of another.
      if (base == nullptr || (run->steps == 0) != (base->steps == 0)) continue;
      shares +=
          fmt::format("{}{} {:.3g} %", shares.empty() ? "" : ", ", arm.name,
                      100 * records::shared_share(run->initial_weights, base->initial_weights));
    }
    if (!shares.empty())
      notes.push_back(fmt::format("{}: share of the initial weights that are the baseline's: {}.",
                                  task.name, shares));
  }
}

/// Arms with weights of other runs: evaluated only, or trained further.
void add_starts(const Evidence& evidence, std::span<const records::RunResult> results,
                std::vector<std::string>& notes) {
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms) {
      const auto run = std::ranges::find_if(results, [&](const records::RunResult& result) {
        return result.task == task.name && result.arm == arm.name;
      });
      if (run == results.end()) continue;
      if (run->steps == 0)
        notes.push_back(fmt::format("{}: {} was not trained; evaluated weights: {}.", task.name,
                                    arm.name, run->weights));
      else if (run->earlier_steps > 0)
        notes.push_back(
            fmt::format("{}: {} starts from weights that had been trained for {} steps, which are "
                        "not among its own.",
                        task.name, arm.name, run->earlier_steps));
    }
}

/// Arms by the hardware of their runs, if it differs: speed and rounding depend on it.
void add_hardware(std::span<const records::RunResult> results, std::vector<std::string>& notes) {
  std::map<std::string, std::map<std::string, int64_t>> runs_on;  // hardware -> arm -> runs
  for (const auto& run : results)
    if (!run.hardware.empty()) ++runs_on[run.hardware][run.arm];
  if (runs_on.size() < 2) return;
  std::vector<std::string> kinds;
  for (const auto& [hardware, runs] : runs_on) {
    std::vector<std::string> arms;
    for (const auto& [arm, count] : runs) arms.push_back(fmt::format("{} ({})", arm, count));
    kinds.push_back(fmt::format("{}: {}", hardware, fmt::join(arms, ", ")));
  }
  notes.push_back(
      fmt::format("Runs differ in hardware, so speeds are not comparable. Processors round "
                  "differently, and training amplifies it: a run repeated on another kind is as "
                  "far from itself as from another seed. Arms, with how many of their runs, on {}.",
                  fmt::join(kinds, "; on ")));
}

/// "copy (length 12)": what a power law is of.
std::string law_place(const std::string& task, const SizeFit& fit) {
  return task + (fit.test_set.empty() ? "" : " (" + fit.test_set + ")");
}

std::string law_note(const std::string& place, const SizeFit& fit, const std::string& over) {
  auto words = fmt::format("{}: {} goes as parameters^{:.3f}", place, display_name(fit.metric),
                           fit.law.exponent);
  if (fit.exponents.interval)
    words += fmt::format(", 95 % interval of {} seeds [{:.3f}, {:.3f}]", fit.exponents.count,
                         fit.exponents.interval->low, fit.exponents.interval->high);
  return words + fmt::format("; over {} the law leaves {} % of the logarithm's variance.", over,
                             percent_figure(100 * (1 - fit.law.r_squared)));
}

/// The power laws of metrics over the number of parameters.
void add_fits(const Evidence& evidence, const config::Study& study,
              std::vector<std::string>& notes) {
  if (!study.compare || study.compare->fit == config::Fit::none) return;
  const auto before = notes.size();
  for (const auto& task : evidence.tasks) {
    const auto arms = std::ranges::count(task.arms, false, &ArmEvidence::control);
    for (const auto& fit : task.fits)
      notes.push_back(
          law_note(law_place(task.name, fit), fit, fmt::format("the {} arms' means", arms)));
  }
  for (const auto& ladder : evidence.ladders)
    for (const auto& arm : ladder.arms)
      if (arm.fit)
        notes.push_back(
            law_note(fmt::format("{}, {}{}", law_place(ladder.task, *arm.fit), arm.name,
                                 ladder.at.empty() ? "" : " at " + ladder.at),
                     *arm.fit,
                     fmt::format("the means at its {} {}", ladder.rungs.size(),
                                 ladder.axis == kSizeAxis ? "sizes" : "values of " + ladder.axis)));
  if (notes.size() == before)
    notes.emplace_back(
        "No power law is fitted (compare.fit): it takes finished runs of three different numbers "
        "of parameters, and means above 0.");
}

/// Whether a run of the task has finished.
bool is_finished(const TaskEvidence& task, std::span<const records::RunResult> results) {
  return std::ranges::find(results, task.name, &records::RunResult::task) != results.end();
}

/// Compared scores that finished runs lack, such as BLEU of references without four words.
void add_undefined(const Evidence& evidence, std::span<const records::RunResult> results,
                   std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::string>> arms;  // "copy: BLEU on length 3" -> arms
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells) {
        const auto lacks = [&](const records::RunResult& run) {
          const auto seed = std::ranges::find(evidence.seeds, run.seed) - evidence.seeds.begin();
          return run.task == task.name && run.arm == arm.name &&
                 seed < std::ssize(cell.sample.values) &&
                 std::isnan(cell.sample.values[static_cast<size_t>(seed)]);
        };
        if (cell.primary && std::ranges::any_of(results, lacks))
          arms[fmt::format("{}: {}{}", task.name, display_name(cell.metric),
                           cell.test_set.empty() ? "" : " on " + cell.test_set)]
              .push_back(arm.name);
      }
  for (const auto& [score, names] : arms)
    notes.push_back(
        fmt::format("{} is not defined in finished runs of {}.", score, enumerated(names)));
}

/// Tasks and arms with less data than requested, and config::training_notes() with the runs'
/// numbers of steps.
void add_training_notes(const config::Study& study, std::span<const records::RunResult> results,
                        std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::string>> arms;  // note -> task/arm
  for (const auto& run : results) {
    auto told = run.shortfalls;
    if (const auto* own = config::find_run(study, run.task, run.arm))
      std::ranges::move(config::training_notes(own->experiment.training, run.steps),
                        std::back_inserter(told));
    for (const auto& note : told) {
      auto& names = arms[note];
      const auto name = run.task + "/" + run.arm;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  add_by_note(arms, notes);
}

/// Arms with the same number of steps as their baseline but another number of tokens.
void add_token_counts(const Evidence& evidence, std::vector<std::string>& notes) {
  constexpr double kAlike = 0.01;
  for (const auto& task : evidence.tasks) {
    std::vector<std::string> uneven;
    for (const auto& arm : task.arms) {
      const auto* baseline = baseline_of(task, arm);
      if (baseline == nullptr || arm.steps.mean != baseline->steps.mean) continue;
      const double own = arm.tokens.mean, base = baseline->tokens.mean;
      if (std::abs(own - base) > kAlike * base)
        uneven.push_back(fmt::format("{} {} beside {} of {}", arm.name, count_figure(own),
                                     count_figure(base), baseline->name));
    }
    if (!uneven.empty() && task.parts.empty())
      notes.push_back(
          fmt::format("{}: in the same number of steps, arms were trained on different numbers of "
                      "target tokens: {}. A budget in tokens makes them equal (training.budget).",
                      task.name, fmt::join(uneven, "; ")));
  }
}

}  // namespace

std::vector<std::string> notes_of(const Evidence& evidence, const config::Study& study,
                                  std::span<const records::RunResult> results) {
  std::vector<std::string> notes;
  add_choices(study, notes);
  add_late(study, notes);
  if (evidence.tuning) add_edges(*evidence.tuning, notes);
  std::ranges::move(curve_notes(evidence), std::back_inserter(notes));
  std::ranges::move(control_notes(evidence), std::back_inserter(notes));
  for (const auto& task : evidence.tasks)
    if (is_finished(task, results) && !task.metric.empty() &&
        !config::find_metric(task.metric)->on.empty() &&
        cell_within(task.arms.front(), task.metric) == nullptr)
      notes.push_back(fmt::format("{}: {} is not measured within the trained length.", task.name,
                                  display_name(task.metric)));
  add_undefined(evidence, results, notes);
  add_fits(evidence, study, notes);
  add_starts(evidence, results, notes);
  add_training_notes(study, results, notes);
  add_token_counts(evidence, notes);
  add_token_tables(evidence, notes);
  add_unequal_sizes(evidence, study, notes);
  add_pairing(evidence, results, notes);
  add_hardware(results, notes);
  add_flaws(results, notes);
  add_known_examples(results, notes);
  add_scored_tokens(results, notes);
  add_test_flaws(results, notes);
  add_targets(evidence, notes);
  std::ranges::move(statement_notes(evidence), std::back_inserter(notes));
  add_forecasts(evidence, notes);
  add_tokens(evidence, notes);
  add_scoring(results, notes);
  return notes;
}

}  // namespace ablate::analysis
