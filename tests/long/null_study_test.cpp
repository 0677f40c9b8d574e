#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <random>

#include "experiments/records/result.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/experiments/program.h"

namespace ablate {
namespace {

constexpr int kSeeds = 60, kPairs = 6, kStudies = 2000;

/// Sixty trained runs of the tiny study, and of the same with a third of its learning rate.
class NullStudyTest : public ProgramTest {
 protected:
  NullStudyTest() {
    auto text = read_file(study());
    std::string seeds = "seeds: [1";
    for (int seed = 2; seed <= kSeeds; ++seed) seeds += ", " + std::to_string(seed);
    text.replace(text.find("seeds: [1"), 9, seeds);
    write_file(study(), text + "arms: { base: {}, slow: { training.schedule.peak: 1.0e-3 } }\n");
    EXPECT_EQ(shell(command("out", "--jobs 2")).code, 0);
  }

  std::vector<records::RunResult> results(const std::string& arm) const {
    std::vector<records::RunResult> all;
    for (int seed = 1; seed <= kSeeds; ++seed)
      all.push_back(*records::read_result(folder_ / "out/tiny/copy" / arm /
                                          ("seed-" + std::to_string(seed))));
    return all;
  }

  /// The share of studies, each of six pairs drawn from the two pools, that claim a difference.
  double claims(const std::vector<records::RunResult>& base,
                const std::vector<records::RunResult>& other) {
    std::mt19937 random{1};
    const auto study = study_of(
        analysis::study_yaml(kPairs, {"other"}, "compare: {baseline: base, metric: perplexity}\n"));
    std::vector<size_t> order(kSeeds);
    std::iota(order.begin(), order.end(), 0);
    int found = 0;
    for (int i = 0; i < kStudies; ++i) {
      std::ranges::shuffle(order, random);
      records::StudyRuns runs{.folder = {"none/s"}};
      for (size_t pair = 0; pair < kPairs; ++pair) {
        runs.results.push_back(as(base[order[2 * pair]], "base", pair + 1));
        runs.results.push_back(as(other[order[2 * pair + 1]], "other", pair + 1));
      }
      const auto evidence = analysis::make_evidence(study, runs);
      const auto verdict =
          analysis::cell_of(evidence, "other", "perplexity", "length 4").contrast->verdict;
      found += analysis::is_claim(verdict) ? 1 : 0;
    }
    return static_cast<double>(found) / kStudies;
  }

 private:
  static records::RunResult as(records::RunResult result, const std::string& arm, size_t seed) {
    result.study = "s";
    result.arm = arm;
    result.seed = static_cast<int64_t>(seed);
    return result;
  }
};

TEST_F(NullStudyTest, OfTrainedRunsRejectsAtItsRateAndFindsASlowLearner) {
  // Six pairs reach p <= 0.05 only where all differences have one sign: 2 of 64 patterns.
  const double rate = 2.0 / 64;
  const double null = claims(results("base"), results("base"));
  const double planted = claims(results("base"), results("slow"));
  std::cout << "claims: " << null << " of the same arm twice, " << planted << " of the slow one\n";
  EXPECT_NEAR(null, rate, 4 * std::sqrt(rate * (1 - rate) / kStudies));
  EXPECT_GT(planted, 0.9);
}

}  // namespace
}  // namespace ablate
