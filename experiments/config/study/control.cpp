#include "experiments/config/study/control.h"

#include <algorithm>
#include <utility>

#include "experiments/config/schema/layer_changes.h"

namespace ablate::config {
namespace {

constexpr auto kFewestArms = 3;

/// Whether the arm is trained in every setting, and not from what the baseline has learned. What is
/// wrong with the arm is reported elsewhere.
bool has_noise_of_its_own(const Variation& arm, const ParsedStudy& study) {
  return std::ranges::all_of(study.tasks, [&](const Variation& setting) {
    ProblemList reported;
    auto tree = study.base;
    for (const auto* layers : {&setting.layers, &arm.layers})
      for (const auto& layer : *layers) lay(layer, tree, reported);
    const auto training = decoded(tree, reported).experiment.training;
    return training.trains() && training.init_from.arm != study.keys.compare.baseline;
  });
}

bool is_controlled_by_default(const Variation& baseline, const ParsedStudy& study) {
  const auto counts = [&](const Variation& arm) { return has_noise_of_its_own(arm, study); };
  if (std::ssize(study.arms) < kFewestArms || !counts(baseline)) return false;
  int64_t counted = 0;
  return std::ranges::any_of(
      study.arms, [&](const Variation& arm) { return counts(arm) && ++counted == kFewestArms; });
}

}  // namespace

void add_control(ParsedStudy& study) {
  auto& compare = study.keys.compare;
  compare.control = compare.asks_for_control == true;
  const auto baseline = std::ranges::find(study.arms, compare.baseline, &Variation::name);
  if (baseline == study.arms.end()) return;
  const bool taken = std::ranges::find(study.arms, kControl, &Variation::name) != study.arms.end();
  if (!compare.asks_for_control)
    compare.control = !taken && !study.crossed && is_controlled_by_default(*baseline, study);
  if (!compare.control) return;
  const auto mark = study.tree.place("compare.control");
  if (taken)
    return study.problems.add(
        mark,
        "compare.control adds an arm of the name control, which the study has already; "
        "rename that one");
  Value layer{.type = Value::Type::mapping};
  put(layer, {"training.stream", mark, {.type = Value::Type::scalar, .scalar = "1", .mark = mark}},
      Repeated::problem, study.problems);
  auto control = *baseline;
  control.name = kControl;
  control.mark = mark;
  control.layers.push_back(std::move(layer));
  study.arms.push_back(std::move(control));
}

}  // namespace ablate::config
