#include "experiments/config/study/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "experiments/config/schema/layer_changes.h"
#include "experiments/config/schema/rules.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/parsed_study.h"
#include "tokenizer/model_trainer.h"

namespace ablate::config {
namespace {

constexpr int64_t kLargest = 1 << 20;

int64_t vocabulary_of(const Experiment& experiment) {
  const auto declared = declared_vocabulary(experiment);
  return declared ? declared->tokens : kMatchedVocabulary;
}

/// One value for the key, as a layer.
Value layer_of(const std::string& key, int64_t value, ProblemList& problems) {
  const auto text = std::to_string(value);
  const auto source = std::make_shared<const Source>(kMatchSource, key + ": " + text);
  const Mark mark{source, 0, 0};
  Value layer{.type = Value::Type::mapping, .mark = mark};
  put(layer, {key, mark, {.type = Value::Type::scalar, .scalar = text, .mark = mark}},
      Repeated::problem, problems);
  return layer;
}

std::vector<BrokenRule> broken_rules(const Experiment& experiment) {
  std::vector<BrokenRule> broken;
  collect_broken_rules(section(options::slot_of(experiment), "model"), "model", broken);
  return broken;
}

/// A value that was tried.
struct Trial {
  int64_t value = 0, parameters = 0, vocabulary = 0;
  std::string why;  // the value is not possible; empty: it is
};

/// The search for one arm's value.
class Search {
 public:
  Search(const Tree& arm, const MatchGoal& goal)
      : arm_(arm), goal_(goal), wanted_(goal.count(goal.baseline, vocabulary_of(goal.baseline))) {}

  /// The closest value; with `why` if a value that the search needs is not possible.
  Trial closest() {
    auto high = tried(start());
    while (high.why.empty() && high.parameters < wanted_ && high.value < kLargest)
      high = tried(2 * high.value);
    auto low = high;
    while (low.why.empty() && low.parameters > wanted_ && low.value > 1) low = tried(low.value / 2);
    while (low.why.empty() && high.why.empty() && high.value - low.value > 1) {
      auto middle = tried(low.value + (high.value - low.value) / 2);
      (middle.parameters <= wanted_ || !middle.why.empty() ? low : high) = std::move(middle);
    }
    if (!low.why.empty()) return low;
    return distance(low) <= distance(high) ? low : high;
  }

  int64_t wanted() const { return wanted_; }

 private:
  int64_t distance(const Trial& trial) const { return std::abs(trial.parameters - wanted_); }

  int64_t start() const {
    ProblemList ignored;
    const auto run = decoded(arm_, ignored);
    const auto leaves = leaves_of(run.experiment);
    const auto found = std::ranges::find(leaves, goal_.key, &Leaf::path);
    if (found == leaves.end()) return 1;
    const auto value = parse_integer({.type = Value::Type::scalar, .scalar = found->text}).value;
    return std::clamp<int64_t>(value.value_or(1), 1, kLargest);
  }

  Trial tried(int64_t value) const {
    ProblemList problems;
    auto given = arm_;
    lay(layer_of(goal_.key, value, problems), given, problems);
    const auto run = decoded(given, problems);
    Trial trial{.value = value, .vocabulary = vocabulary_of(run.experiment)};
    const auto broken = broken_rules(run.experiment);
    if (!problems.empty())
      trial.why = problems.all().front().message;
    else if (!broken.empty())
      trial.why = join_path(broken.front().section, broken.front().key) + " " + broken.front().why;
    else
      trial.parameters = goal_.count(run.experiment, trial.vocabulary);
    return trial;
  }

  const Tree& arm_;
  const MatchGoal& goal_;
  int64_t wanted_;
};

}  // namespace

std::optional<DeclaredVocabulary> declared_vocabulary(const Experiment& experiment) {
  const auto& tokenizer = experiment.tokenizer;
  const auto* tokens = std::get_if<data::Tokens>(&experiment.data);
  if (experiment.training.init_from.run) return {};
  if (tokens != nullptr && tokens->vocabulary)
    return {{*tokens->vocabulary + tokenizer::kFirstNumber, "data.vocabulary"}};
  if (tokenizer.kind == tokenizer::Kind::byte)
    return {{tokenizer::kFirstNumber + 256 + (tokenizer.mask ? 1 : 0), "tokenizer.kind"}};
  if (tokenizer.vocabulary) return {{*tokenizer.vocabulary, "tokenizer.vocabulary"}};
  return {};
}

bool has_size(const Experiment& experiment) { return broken_rules(experiment).empty(); }

bool differs_in_size(const Experiment& arm, const MatchGoal& goal) {
  const auto count = [&](const Experiment& one) { return goal.count(one, vocabulary_of(one)); };
  return count(arm) != count(goal.baseline);
}

std::optional<Matched> match(Tree& arm, const std::string& name, const MatchGoal& goal,
                             ProblemList& problems) {
  Search search(arm, goal);
  const auto closest = search.closest();
  const auto wanted = search.wanted();
  const auto refuse = [&](const std::string& why) {
    problems.add(goal.mark, fmt::format("match cannot give the arm {} the baseline's {} parameters "
                                        "by {}: {}",
                                        in_quotes(name), wanted, goal.key, why));
    return std::nullopt;
  };
  if (!closest.why.empty())
    return refuse(
        fmt::format("{} is not possible ({}); match by another key", closest.value, closest.why));
  const auto off = static_cast<double>(std::abs(closest.parameters - wanted));
  if (off > kMatchTolerance * static_cast<double>(wanted))
    return refuse(fmt::format(
        "the closest is {} with {} parameters, {:.1f} % away, and 1 % is allowed; match by a finer "
        "key, or leave the arm out of match.arms",
        closest.value, closest.parameters, 100 * off / static_cast<double>(wanted)));
  lay(layer_of(goal.key, closest.value, problems), arm, problems);
  return Matched{closest.value, closest.parameters, wanted, closest.vocabulary};
}

void check_matched_key(const std::string& key, const Mark& mark, ProblemList& problems) {
  const auto* node = node_at(experiment_schema(), key);
  if (node == nullptr)
    problems.add(mark, fmt::format("match.by: unknown key {}; write a path below base, such as "
                                   "model.feed_forward.d_hidden",
                                   in_quotes(key)));
  else if (node->type != Schema::Type::integer || !key.starts_with("model."))
    problems.add(mark, fmt::format("match.by: {} is not a whole number of the model, such as "
                                   "model.feed_forward.d_hidden",
                                   key));
}

}  // namespace ablate::config
