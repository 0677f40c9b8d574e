#include "experiments/config/study/curve.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

bool is_positive(const Value& value) {
  const auto number = parse_number(value).value;
  return number && *number > 0;
}

}  // namespace

void check_curve(const Tuning& tuning, const StudyFile& keys, const Tree& tree,
                 ProblemList& problems) {
  const auto refuse = [&](const char* key, bool there, const std::string& why) {
    if (there && tree.has(key) && tree.readable(key))
      problems.add(tree.place(key), fmt::format("{} {}", key, why));
  };
  refuse("tune.seeds", true,
         "are for trial runs, and by: curve has none: every seed of the study runs every value; "
         "leave them out");
  refuse("tune.extend", true,
         "continues a search, and by: curve has none; leave it out, and list values on both sides "
         "of the best");
  refuse("compare.cost_to", true,
         "is read from the log of one run of a seed, and by: curve has one for every value; leave "
         "it out, or say tune.by: seed");
  refuse("compare.test", keys.compare.test == PairedTest::e_value,
         "cannot be e_value with tune.by: curve: a new seed moves the vertices at which the seeds "
         "before were compared, so its claims would not hold at every look; say sign_flip, or "
         "tune.by: seed");
  const auto& [path, name, values] = tuning.keys.front();
  if (tuning.keys.size() > 1)
    problems.add(tree.place("tune.keys"),
                 fmt::format("tune.keys has {} keys, and by: curve fits a curve over one; leave "
                             "one, and vary the others by the grid",
                             tuning.keys.size()));
  else if (values.size() < kFewestPoints || !std::ranges::all_of(values, is_positive))
    problems.add(
        values.front().mark,
        fmt::format("tune.keys: by: curve takes three positive numbers or more of {}, such "
                    "as [1.0e-3, 2.0e-3, 4.0e-3], over whose logarithm it fits a curve",
                    path));
}

void check_on_curve(const ExpandedArm& arm, ProblemList& problems) {
  const auto& from = arm.run.experiment.training.init_from.arm;
  if (from)
    problems.add(arm.run.tree.place("training.init_from.arm"),
                 fmt::format("the arm {} starts from {}, of which tune.by: curve has a run for "
                             "every value; start from a finished run (training.init_from.run), or "
                             "say tune.by: seed",
                             in_quotes(arm.name), in_quotes(*from)));
}

std::string point_of(const TunedKey& key, const Value& value) {
  return fmt::format("{}={}", key.name, name_of(value));
}

std::vector<RunSpecification> runs_on_curve(const Study& study, const UntunedArm& arm) {
  std::vector<RunSpecification> runs;
  const auto& key = study.tuning->keys.front();
  for (const auto& value : key.values)
    if (const auto candidate = candidate_of(arm, *study.tuning, {value}, study.file))
      for (const int64_t seed : study.seeds)
        runs.push_back({.task = arm.task,
                        .arm = arm.arm,
                        .seed = seed,
                        .experiment = candidate->experiment,
                        .origins = candidate->origins,
                        .waits = {},
                        .point = point_of(key, value)});
  return runs;
}

}  // namespace ablate::config
