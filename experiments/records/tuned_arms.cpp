#include "experiments/records/tuned_arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "experiments/config/schema/metric.h"
#include "experiments/records/failure.h"
#include "experiments/records/result.h"

namespace ablate::records {
namespace {

/// Of which no key that is read here can be tuned.
const training::TrainingOptions& training_of(const config::UntunedArm& arm,
                                             const config::Study& study) {
  return config::configuration_of(study.configurations, arm.task, arm.arm)->experiment.training;
}

bool is_of(const Search& search, const std::string& task, const std::string& arm) {
  return search.found.task == task && search.found.arm == arm;
}

/// The search for one arm in one task, from the files of its runs.
class ArmSearcher {
 public:
  /// The search of the study's seed `place`, or of all of them. `before` are those of the arms
  /// before.
  ArmSearcher(const config::Study& study, const StudyFolder& folder, const config::UntunedArm& arm,
              std::optional<size_t> place, const std::vector<Search>& before)
      : study_(study),
        tuning_(*study.tuning),
        folder_(folder),
        arm_(arm),
        seeds_(place ? std::vector{tuning_.seeds.at(*place)} : tuning_.seeds),
        axes_(config::declared_axes(tuning_)),
        extensions_(axes_.size(), 0) {
    if (place) search_.seed = study.seeds.at(*place);
    search_.found.task = arm_.task;
    search_.found.arm = arm_.arm;
    source_ = source_in(before);
  }

  Search search() {
    if (source_ == nullptr || source_->best)
      choose();
    else if (!source_->has_none())
      wait();
    search_.found.open = std::ssize(search_.open);
    return std::move(search_);
  }

 private:
  void choose() {
    for (size_t key = 0; key < axes_.size(); ++key)
      if (inherits(key)) axes_[key] = {source_->values[key]};
    try_all(true);
    while (search_.open.empty()) {
      const auto best = best_tried();
      if (!best) break;
      if (extend(tried_[*best])) {
        try_all(false);
        continue;
      }
      search_.found.chosen.front().tried = best;
      search_.best = config::candidate_of(arm_, tuning_, tried_[*best], study_.file);
      search_.values = tried_[*best];
      break;
    }
  }

  /// The search of the arm that this one starts from; null if it starts from no other arm.
  const Search* source_in(const std::vector<Search>& before) const {
    const auto& from = training_of(arm_, study_).init_from.arm;
    if (!from) return nullptr;
    return &*std::ranges::find_if(before, [&](const Search& search) {
      return is_of(search, arm_.task, *from) && search.seed == search_.seed;
    });
  }

  /// Lists the trial runs that follow when the values of the arm that this one starts from are
  /// known.
  void wait() {
    for (size_t key = 0; key < axes_.size(); ++key)
      if (inherits(key)) axes_[key].resize(1);
    for (auto& combination : config::combinations(axes_)) {
      auto candidate = config::candidate_of(arm_, tuning_, combination, study_.file);
      if (!candidate) continue;
      for (size_t key = 0; key < axes_.size(); ++key)
        if (inherits(key)) combination[key].scalar = "unknown";
      candidate->name = config::name_of(arm_.arm, tuning_, combination);
      for (const int64_t seed : seeds_) {
        search_.open.push_back(trial(*candidate, seed));
        search_.open.back().waits = fmt::format(
            "not started: the values of {}, from which it starts, are still searched for",
            *training_of(arm_, study_).init_from.arm);
      }
    }
  }

  /// Whether the arm has the value of this key of the arm that it starts from.
  bool inherits(size_t key) const {
    return source_ != nullptr && (!training_of(arm_, study_).trains() ||
                                  !tuning_.keys[key].path.starts_with("training."));
  }

  config::RunSpecification trial(const config::Candidate& candidate, int64_t seed) const {
    config::RunSpecification run{.task = candidate.task,
                                 .arm = candidate.name,
                                 .seed = seed,
                                 .experiment = candidate.experiment,
                                 .origins = candidate.origins,
                                 .trial = true};
    if (source_ != nullptr && source_->best)
      run.experiment.training.init_from.arm = source_->best->name;
    return run;
  }

  /// Tries the combinations of the values that have not been tried.
  void try_all(bool declared) {
    for (const auto& combination : config::combinations(axes_)) {
      const auto candidate = config::candidate_of(arm_, tuning_, combination, study_.file);
      if (!candidate || std::ranges::find(names_, candidate->name) != names_.end()) continue;
      names_.push_back(candidate->name);
      rate(*candidate, combination, declared);
    }
  }

  /// Scores the candidate if its runs have ended, and collects the runs that have not.
  void rate(const config::Candidate& candidate, const config::Combination& combination,
            bool declared) {
    config::TriedCombination tried{.values = {}, .scores = {}, .declared = declared};
    for (const auto& value : combination) tried.values.push_back(config::text_of(value));
    for (const int64_t seed : seeds_) {
      auto run = trial(candidate, seed);
      const auto score = tuned_score(tuning_, folder_.run(run));
      if (score) tried.scores.emplace_back(*score);
      (score ? search_.ended : search_.open).push_back(std::move(run));
    }
    if (tried.scores.size() < seeds_.size()) return;
    search_.found.tried.push_back(std::move(tried));
    tried_.push_back(combination);
  }

  /// Of equal ones the first; absent if all diverged.
  std::optional<size_t> best_tried() const {
    const bool by_perplexity = tuning_.metric == config::ValidationMetric::perplexity;
    std::optional<size_t> best;
    double quality = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < search_.found.tried.size(); ++i) {
      const double mean = config::mean_score(search_.found.tried[i]);
      const double own = by_perplexity ? -mean : mean;
      if (!std::isnan(own) && (!best || config::is_above(own, quality))) {
        best = i;
        quality = own;
      }
    }
    return best;
  }

  /// Continues the values of which the best is at an end; false if there are none to continue.
  bool extend(const config::Combination& best) {
    auto& at_edge = search_.found.chosen.front().at_edge;
    at_edge.clear();
    bool extended = false;
    for (size_t key = 0; key < axes_.size(); ++key) {
      const auto end = config::end_of(axes_[key], best[key]);
      if (!end) continue;
      if (add_beyond(key, *end))
        extended = true;
      else
        at_edge[tuning_.keys[key].path] = *end;
    }
    return extended;
  }

  bool add_beyond(size_t key, config::End end) {
    if (extensions_[key] == tuning_.extend) return false;
    const auto next = config::value_beyond(tuning_.keys[key], axes_[key], end);
    if (!next) return false;
    auto beyond = axes_;
    beyond[key] = {*next};
    for (const auto& combination : config::combinations(beyond))
      if (!config::candidate_of(arm_, tuning_, combination, study_.file)) return false;
    axes_[key].push_back(*next);
    ++extensions_[key];
    return true;
  }

  const config::Study& study_;
  const config::Tuning& tuning_;
  const StudyFolder& folder_;
  const config::UntunedArm& arm_;
  std::vector<int64_t> seeds_;  // of its trial runs
  const Search* source_ = nullptr;
  Search search_;
  config::Axes axes_;
  std::vector<int64_t> extensions_;         // of each key
  std::vector<std::string> names_;          // of all combinations so far
  std::vector<config::Combination> tried_;  // those of search_.found.tried
};

void add_best(config::Study& study, const Search& search) {
  for (auto& run : study.runs) {
    if (!is_of(search, run.task, run.arm) || run.seed != search.seed.value_or(run.seed)) continue;
    run.waits = search.best                  ? ""
                : !search.has_none()         ? "not started: its best values are still searched for"
                : search.found.tried.empty() ? "the arm that it starts from has no best values"
                                             : "every combination of tune.keys diverged on a "
                                               "tuning seed";
    if (!search.best) continue;
    run.experiment = search.best->experiment;
    run.origins = search.best->origins;
  }
  for (auto& configuration : study.configurations)
    if (search.best && !search.seed && is_of(search, configuration.task, configuration.arm))
      configuration.experiment = search.best->experiment;
}

}  // namespace

std::optional<double> tuned_score(const config::Tuning& tuning, const RunFolder& folder) {
  const bool by_perplexity = tuning.metric == config::ValidationMetric::perplexity;
  if (const auto result = read_result(folder)) {
    check_files(folder, *result);  // excludes a result that belongs to another run
    const double score =
        by_perplexity ? result->validation_perplexity : result->validation_token_accuracy;
    return std::isfinite(score) ? score : kNotMeasured;
  }
  if (has_diverged(folder)) return kNotMeasured;
  return {};
}

std::vector<Search> searches(const config::Study& study, const StudyFolder& folder) {
  std::vector<Search> all;
  if (!study.tuning || study.by_curve()) return all;
  const bool shared = study.tuning->by == config::TunedBy::shared;
  for (const auto& arm : study.tuning->arms)
    for (size_t place = 0; place < (shared ? 1 : study.seeds.size()); ++place)
      all.push_back(
          ArmSearcher(study, folder, arm, shared ? std::nullopt : std::optional(place), all)
              .search());
  return all;
}

std::vector<config::RunSpecification> open_trials(const config::Study& study,
                                                  const StudyFolder& folder) {
  std::vector<config::RunSpecification> runs;
  for (auto& search : searches(study, folder))
    std::ranges::move(search.open, std::back_inserter(runs));
  return runs;
}

StudyProgress progress_of(const config::Study& study, const StudyFolder& folder) {
  StudyProgress progress{.trials = {}, .runs = {.all = std::ssize(study.runs)}};
  for (const auto& search : searches(study, folder)) {
    progress.trials.ended += std::ssize(search.ended);
    progress.trials.all += std::ssize(search.ended) + std::ssize(search.open);
  }
  progress.runs.ended = std::ranges::count_if(study.runs, [&](const auto& run) {
    return std::filesystem::exists(folder.run(run).result()) || is_left_out(run, folder);
  });
  return progress;
}

std::string progress_words(const StudyProgress& progress) {
  const auto& [trials, runs] = progress;
  auto done = fmt::format("{} of {} runs done", runs.ended, runs.all);
  if (trials.ended == trials.all) return done;
  return fmt::format("search: {} of {} trials; {}", trials.ended, trials.all,
                     runs.ended > 0 ? done : fmt::format("then {} runs", runs.all));
}

namespace {

/// Adds the findings of one more seed's search, of `seeds` in all.
void add_search(const config::ArmSearch& own, size_t place, size_t seeds, config::ArmSearch& all) {
  all.open += own.open;
  all.chosen.resize(seeds);
  for (size_t i = 0; i < own.tried.size(); ++i) {
    auto found =
        std::ranges::find(all.tried, own.tried[i].values, &config::TriedCombination::values);
    if (found == all.tried.end()) {
      all.tried.push_back({.values = own.tried[i].values, .scores = {}, .declared = false});
      found = std::prev(all.tried.end());
      found->scores.resize(seeds);
    }
    found->scores[place] = own.tried[i].scores.front();
    found->declared = found->declared || own.tried[i].declared;
    if (own.chosen.front().tried == i)
      all.chosen[place] = {static_cast<size_t>(found - all.tried.begin()),
                           own.chosen.front().at_edge};
  }
}

}  // namespace

config::Study with_best_values(config::Study study, const StudyFolder& folder) {
  if (!study.tuning || study.by_curve()) return study;
  auto& all = study.tuning->searches;
  all.clear();
  for (auto& search : searches(study, folder)) {
    add_best(study, search);
    const auto& [task, arm] = std::tie(search.found.task, search.found.arm);
    if (!config::configuration_of(study.configurations, task, arm)->experiment.training.trains())
      continue;
    if (!search.seed) {
      all.push_back(std::move(search.found));
      continue;
    }
    if (all.empty() || all.back().task != task || all.back().arm != arm)
      all.push_back({.task = task, .arm = arm, .tried = {}});
    const auto place = std::ranges::find(study.seeds, *search.seed) - study.seeds.begin();
    add_search(search.found, static_cast<size_t>(place), study.seeds.size(), all.back());
  }
  return study;
}

}  // namespace ablate::records
