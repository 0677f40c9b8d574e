#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/records/failure.h"
#include "experiments/records/result.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/schedule/tuning.h"
#include "tests/experiments/program.h"
#include "training/storage/finite_json.h"

namespace ablate::schedule {

/// The tiny study with learning rates to try on two seeds.
class TuningTest : public ProgramTest {
 protected:
  TuningTest() {
    untuned_ = replaced(read_file(study()), "seeds: [1]", "seeds: [1, 2, 3]");
    tune("[1.0e-3, 2.0e-3, 4.0e-3]");
  }

  void tune(const std::string& peaks, const std::string& more = "extend: 2") {
    write_file(study(), untuned_ + "tune: { by: shared, keys: { training.schedule.peak: " + peaks +
                            " }, seeds: [8, 9], " + more + " }\n");
  }

  std::filesystem::path folder_of(const std::string& arm, int64_t seed) const {
    return folder_ / "tiny/copy" / arm / ("seed-" + std::to_string(seed));
  }

  /// A finished run, by hand.
  void finish(const std::string& arm, int64_t seed, double validation_perplexity) const {
    const auto folder = folder_of(arm, seed);
    std::filesystem::create_directories(folder);
    const records::RunResult result{.study = "tiny",
                                    .task = "copy",
                                    .arm = arm,
                                    .seed = seed,
                                    .validation_perplexity = validation_perplexity,
                                    .validation_token_accuracy = validation_perplexity};
    write_file(folder / "result.json", training::sealed_json(training::to_json(result)));
  }

  /// The folder of the arm with this value, in which numbers have one spelling.
  static std::string candidate(const std::string& peak) {
    return fmt::format("base-peak={}", std::stod(peak));
  }

  /// Both trial runs of each value, with these perplexities.
  void finish_trials(const std::map<std::string, double>& peaks) const {
    for (const auto& [peak, perplexity] : peaks)
      for (const int64_t seed : {8, 9}) finish(candidate(peak), seed, perplexity);
  }

  void fail(const std::string& peak, int64_t seed, int exit_code) const {
    const auto folder = folder_of(candidate(peak), seed);
    std::filesystem::create_directories(folder);
    records::write_failure(folder, {.exit_code = exit_code, .message = "why"});
  }

  config::Study tuned() const {
    return records::with_best_values(config::read_study(study()), folder_ / "tiny");
  }

  config::ArmSearch search() const { return tuned().tuning->searches.front(); }

  /// The chosen value of the only key; empty without a choice.
  std::string chosen() const {
    const auto found = search();
    const auto& tried = found.chosen.front().tried;
    return tried ? found.tried[*tried].values.front() : "";
  }

  /// The runs that may start now.
  std::string next() const {
    std::string runs;
    for (const auto& run : next_wave(config::read_study(study()), folder_ / "tiny", 0))
      runs += run.arm + ":" + std::to_string(run.seed) + " ";
    return runs;
  }

  /// Two seeds, and a base whose own learning rate is too small to learn.
  void search_from_nothing() {
    untuned_ = replaced(untuned_, "peak: 3.0e-3", "peak: 1.0e-9");
    untuned_ = replaced(untuned_, "seeds: [1, 2, 3]", "seeds: [1, 2]");
    tune("[1.0e-9, 3.0e-3, 1.0e-4]", "extend: 1");
  }

  /// The perplexity of each run, by arm and seed, from the lines of `ablate run --json`.
  static std::map<std::string, double> perplexities(const std::string& output) {
    std::map<std::string, double> perplexity;
    for (const auto& json : json_lines(output)) {
      perplexity[json.at("arm").get<std::string>() + json.at("seed").dump()] =
          json.at("validation_perplexity");
    }
    return perplexity;
  }

  std::string untuned_;
};

/// The peak of the rate of a run.
inline double peak_of(const config::RunSpecification& run) {
  return std::visit([](const auto& schedule) { return schedule.peak; },
                    run.experiment.training.schedule);
}

}  // namespace ablate::schedule
