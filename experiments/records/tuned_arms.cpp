#include "experiments/records/tuned_arms.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/records/result.h"

namespace ablate::records {
namespace {

constexpr double kWorst = -std::numeric_limits<double>::infinity();

/// A candidate and its score: higher is better, kWorst if one of its runs diverged.
struct Rated {
  const config::Candidate* candidate;
  double quality = 0;
};

/// Whether the run diverged, which it would do again.
bool diverged(const RunFolder& folder) {
  const auto failure = read_failure(folder);
  return failure && meaning_of(failure->exit_code) == ExitCode::diverged;
}

/// The search for one arm in one task, from the files of its runs.
class ArmSearch {
 public:
  ArmSearch(const config::Study& study, const StudyFolder& folder)
      : study_(study), folder_(folder) {}

  Search search(const std::string& task, const std::string& arm) {
    std::vector<Rated> left;
    for (const auto& candidate : study_.tuning->candidates)
      if (candidate.task == task && candidate.arm == arm) left.push_back({&candidate});
    rate(left);
    if (!search_.open.empty()) return std::move(search_);
    const auto best = std::ranges::max_element(left, worse);  // of equal ones the first
    if (best != left.end() && best->quality > kWorst) choose(*best->candidate);
    return std::move(search_);
  }

 private:
  static bool worse(const Rated& one, const Rated& other) {
    return config::is_above(other.quality, one.quality);
  }

  void choose(const config::Candidate& best) {
    search_.best = &best;
    for (auto& tried : search_.tried) tried.chosen = tried.value == best.value;
  }

  void note(const Rated& rated) {
    const auto& candidate = *rated.candidate;
    const bool by_perplexity = study_.tuning->metric == config::ValidationMetric::perplexity;
    const double mean = rated.quality / static_cast<double>(study_.tuning->seeds.size());
    config::TriedValue tried{
        .task = candidate.task, .arm = candidate.arm, .value = candidate.value};
    if (std::isfinite(mean)) tried.score = by_perplexity ? -mean : mean;
    search_.tried.push_back(tried);
  }

  /// Scores the candidates whose runs have ended, and collects the runs that have not.
  void rate(std::vector<Rated>& candidates) {
    for (auto& rated : candidates) {
      auto& [candidate, quality] = rated;
      const auto open = search_.open.size();
      for (const int64_t seed : study_.tuning->seeds) {
        auto run = run_of(*candidate, seed);
        const auto folder = folder_.run(run);
        if (const auto result = read_result(folder)) {
          check_files(folder, *result);  // excludes a result that belongs to another run
          quality += quality_of(result->validation_perplexity, result->validation_token_accuracy);
        } else if (diverged(folder)) {
          quality = kWorst;
        } else {
          search_.open.push_back(std::move(run));
        }
      }
      if (search_.open.size() == open) note(rated);
    }
  }

  double quality_of(double perplexity, double token_accuracy) const {
    const bool by_perplexity = study_.tuning->metric == config::ValidationMetric::perplexity;
    const double quality = by_perplexity ? -perplexity : token_accuracy;
    return std::isnan(quality) ? kWorst : quality;
  }

  const config::Study& study_;
  const StudyFolder& folder_;
  Search search_;
};

std::string tuned_name(const std::string& arm) {
  return config::ComparedArm{.arm = arm, .tuned = true}.name();
}

}  // namespace

config::RunSpecification run_of(const config::Candidate& candidate, int64_t seed) {
  return {.task = candidate.task,
          .arm = candidate.name,
          .seed = seed,
          .experiment = candidate.experiment,
          .origins = candidate.origins};
}

std::vector<Search> searches(const config::Study& study, const StudyFolder& folder) {
  std::vector<Search> all;
  for (const auto& task : study.tasks)
    for (const auto& arm : study.arms) all.push_back(ArmSearch(study, folder).search(task, arm));
  return all;
}

config::Study with_tuned_arms(config::Study study, const StudyFolder& folder) {
  if (!study.tuning) return study;
  study.tuning->tried.clear();
  std::vector<config::RunSpecification> runs;
  for (const auto& task : study.tasks) {
    const auto first = runs.size();
    for (const auto& run : study.runs)
      if (run.task == task) runs.push_back(run);
    const auto own = std::vector(runs.begin() + static_cast<std::ptrdiff_t>(first), runs.end());
    std::map<std::string, const config::Candidate*> best_of;
    for (const auto& run : own) {
      const auto [found, fresh] = best_of.try_emplace(run.arm);
      if (fresh) {
        const auto search = ArmSearch(study, folder).search(task, run.arm);
        found->second = search.best;
        std::ranges::copy(search.tried, std::back_inserter(study.tuning->tried));
      }
      const auto* best = found->second;
      auto tuned = best == nullptr ? run : run_of(*best, run.seed);
      tuned.arm = tuned_name(run.arm);
      tuned.stored = best == nullptr ? tuned.arm : best->name;
      tuned.tuned_from = run.arm;
      runs.push_back(std::move(tuned));
    }
  }
  study.runs = std::move(runs);
  for (const auto& arm : std::vector(study.arms)) study.arms.push_back(tuned_name(arm));
  return study;
}

}  // namespace ablate::records
