#include "experiments/config/study/tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "experiments/config/schema/rules.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/study/curve.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/selection.h"

namespace ablate::config {
namespace {

constexpr int64_t kFirstSeed = 101, kOwnSeed = 100;  // the latter is added to the study's
constexpr size_t kDefaultSeeds = 2;
constexpr size_t kMostCombinations = 1000;
constexpr int64_t kMostExtensions = 20;

/// A section whose values a validation score cannot choose, and why.
struct Untunable {
  std::string_view prefix, why;
};

constexpr auto kUntunable = std::to_array<Untunable>({
    {"tokenizer.",
     "values are chosen by perplexity or token accuracy, which are measured per token; make each "
     "value an arm and compare by nats_per_character"},
    {"data.", "scores on other data cannot be compared; make each value a task"},
    {"training.steps",
     "longer training would be chosen; make each value an arm, with compare: { allow: [steps] }"},
    {"training.budget",
     "longer training would be chosen; make each value an arm, with compare: { allow: [steps] }"},
    {"training.init_from", "other starts are other arms; make each value an arm"},
    {"decoding.", "validation scores do not depend on it; make each value an arm"},
});

std::vector<int64_t> default_seeds(const std::vector<int64_t>& taken) {
  std::vector<int64_t> seeds;
  for (int64_t seed = kFirstSeed; seeds.size() < kDefaultSeeds; ++seed)
    if (std::ranges::find(taken, seed) == taken.end()) seeds.push_back(seed);
  return seeds;
}

/// The values as numbers in ascending order; empty if they are not two or more numbers.
std::vector<double> ascending(const std::vector<Value>& values) {
  std::vector<double> numbers;
  for (const auto& value : values)
    if (const auto number = parse_number(value).value) numbers.push_back(*number);
  if (numbers.size() != values.size() || numbers.size() < 2) return {};
  std::ranges::sort(numbers);
  return numbers;
}

bool same_value(const Value& left, const Value& right) {
  const auto a = parse_number(left).value, b = parse_number(right).value;
  return a && b ? *a == *b : name_of(left) == name_of(right);
}

/// Whether the key can be tuned with these values.
bool check_key(const Entry& key, ProblemList& problems) {
  const auto& [path, mark, values] = key;
  for (const auto& [prefix, why] : kUntunable)
    if (path.starts_with(prefix) && path != "tokenizer.dropout") {
      problems.add(mark, fmt::format("{} cannot be tuned: {}", path, why));
      return false;
    }
  if (values.type != Value::Type::list || values.items.empty()) {
    const auto given = text_of(values);
    problems.add(values.mark,
                 fmt::format("tune.keys: {} needs a list of values to try{}", in_quotes(path),
                             values.type == Value::Type::scalar ? "; write [" + given + "]" : ""));
    return false;
  }
  for (auto value = values.items.begin(); value != values.items.end(); ++value)
    if (std::any_of(values.items.begin(), value,
                    [&](const Value& earlier) { return same_value(earlier, *value); })) {
      problems.add(value->mark,
                   fmt::format("tune.keys: {} lists {} twice", in_quotes(path), text_of(*value)));
      return false;
    }
  return true;
}

std::vector<TunedKey> read_keys(const Value& section, const Mark& place, ProblemList& problems) {
  if (section.type != Value::Type::mapping || section.entries.empty()) {
    problems.add(place,
                 "tune needs 'keys', dotted paths below base with the values to try; write keys: { "
                 "training.schedule.peak: [1.0e-3, 3.0e-3, 1.0e-2] }");
    return {};
  }
  std::vector<TunedKey> keys;
  size_t count = 1;
  for (const auto& entry : section.entries) {
    if (!check_key(entry, problems)) return {};
    keys.push_back({entry.key, short_name(entry.key, section.entries), entry.value.items});
    for (auto& value : keys.back().values) value.mark = entry.mark;  // one problem for all values
    count *= entry.value.items.size();
    if (count > kMostCombinations) {
      problems.add(entry.mark, fmt::format("tune.keys makes more than {} combinations of values; "
                                           "leave some out",
                                           kMostCombinations));
      return {};
    }
  }
  return keys;
}

}  // namespace

std::optional<Tuning> read_tuning(const StudyFile& keys, const Tree& tree, ProblemList& problems) {
  const auto& tune = keys.tune;
  const auto given = [&](const char* key) { return tree.has(key) && tree.readable(key); };
  Tuning tuning{.keys = read_keys(tune.keys, tree.place("tune.keys"), problems),
                .metric = tune.metric,
                .by = tune.by,
                .seeds = given("tune.seeds") ? tune.seeds : std::vector<int64_t>(),
                .extend = tune.extend,
                .on_test_text = tune.on_test_text};
  if (given("tune.seeds")) check_seeds(tune.seeds, tree.place("tune.seeds"), problems);
  if (tune.by == TunedBy::seed && given("tune.seeds") && tune.seeds.size() != keys.seeds.size())
    problems.add(tree.place("tune.seeds"),
                 fmt::format("tune.seeds has {} and the study {} seeds, each of which has a search "
                             "of its own; leave tune.seeds out, or say by: shared for one search "
                             "that all of them share",
                             tune.seeds.size(), keys.seeds.size()));
  if (tune.extend < 0 || tune.extend > kMostExtensions)
    problems.add(tree.place("tune.extend"),
                 fmt::format("tune.extend must be between 0 and {}", kMostExtensions));
  if (tuning.keys.empty()) return {};
  if (tuning.by == TunedBy::curve) check_curve(tuning, keys, tree, problems);
  if (tuning.by == TunedBy::curve) tuning.extend = 0;
  return tuning;
}

void choose_seeds(Tuning& tuning, const StudyFile& keys, const std::vector<int64_t>& run,
                  const Mark& mark, ProblemList& problems) {
  if (tuning.by == TunedBy::curve) {
    tuning.seeds = run;
    return;
  }
  auto all = keys.seeds;
  std::ranges::copy_if(run, std::back_inserter(all), [&](int64_t seed) {
    return std::ranges::find(keys.seeds, seed) == keys.seeds.end();
  });
  const auto own_of = [&](std::vector<int64_t> seeds) {
    for (auto& seed : seeds) {
      const auto place =
          static_cast<size_t>(std::ranges::find(keys.seeds, seed) - keys.seeds.begin());
      seed = place < keys.tune.seeds.size() ? keys.tune.seeds[place] : seed + kOwnSeed;
    }
    return seeds;
  };
  const bool by_seed = tuning.by == TunedBy::seed;
  auto tried = by_seed ? own_of(all) : keys.tune.seeds;
  if (tried.empty() && !by_seed) tried = default_seeds(keys.seeds);
  tuning.seeds = by_seed ? own_of(run) : tried;
  for (const int64_t seed : tried)
    if (std::ranges::find(all, seed) != all.end())
      problems.add(mark, fmt::format("seed {} would choose values and be compared, too; give "
                                     "tune.seeds that the study does not have, such as [{}]",
                                     seed, fmt::join(default_seeds(all), ", ")));
}

Axes declared_axes(const Tuning& tuning) {
  Axes axes;
  for (const auto& key : tuning.keys) axes.push_back(key.values);
  return axes;
}

std::string name_of(const std::string& arm, const Tuning& tuning, const Combination& combination) {
  auto name = arm;
  for (size_t i = 0; i < combination.size(); ++i)
    name += fmt::format("-{}={}", tuning.keys[i].name, name_of(combination[i]));
  return name;
}

Layered with_values(Tree arm, const Tuning& tuning, const Combination& combination,
                    ProblemList& problems) {
  Value layer{.type = Value::Type::mapping};
  for (size_t i = 0; i < combination.size(); ++i)
    put(layer, {tuning.keys[i].path, combination[i].mark, nested(combination[i], problems)},
        Repeated::problem, problems);
  lay(layer, arm, problems);
  return decoded(arm, problems);
}

std::optional<Candidate> candidate_of(const UntunedArm& arm, const Tuning& tuning,
                                      const Combination& combination,
                                      const std::filesystem::path& file) {
  ProblemList problems;
  auto run = with_values(*arm.given, tuning, combination, problems);
  std::vector<BrokenRule> broken;
  collect_broken_rules(options::slot_of(run.experiment), "", broken);
  if (!problems.empty() || !broken.empty()) return {};
  auto origins = origins_of(run, file);
  return Candidate{arm.task, name_of(arm.arm, tuning, combination), std::move(run.experiment),
                   std::move(origins)};
}

bool have_ends(const std::vector<Value>& values) { return !ascending(values).empty(); }

std::optional<End> end_of(const std::vector<Value>& values, const Value& value) {
  const auto numbers = ascending(values);
  if (numbers.empty()) return {};
  const auto number = parse_number(value).value;
  if (number == numbers.front()) return End::smallest;
  if (number == numbers.back()) return End::largest;
  return {};
}

std::optional<Value> value_beyond(const TunedKey& key, const std::vector<Value>& values, End end) {
  auto numbers = ascending(values);
  if (end == End::smallest) std::ranges::reverse(numbers);
  const double last = numbers.back(), before = numbers[numbers.size() - 2];
  const double next = last > 0 && before > 0 ? last * (last / before) : last + (last - before);
  const auto* schema = node_at(experiment_schema(), key.path);
  const bool whole = schema != nullptr && schema->type == Schema::Type::integer;
  auto value = values.back();
  value.scalar = whole ? fmt::format("{:.0f}", std::round(next)) : fmt::format("{:.3g}", next);
  const auto number = parse_number(value).value;
  if (!number || std::ranges::find(numbers, *number) != numbers.end()) return {};
  return value;
}

double mean_score(const TriedCombination& tried) {
  double sum = 0, count = 0;
  for (const auto& score : tried.scores)
    if (score) {
      sum += *score;
      ++count;
    }
  return sum / count;
}

double chosen_score(const ArmSearch& search) {
  if (search.chosen.size() == 1 && search.chosen.front().tried)
    return mean_score(search.tried[*search.chosen.front().tried]);
  double sum = 0, count = 0;
  for (size_t seed = 0; seed < search.chosen.size(); ++seed)
    if (const auto& tried = search.chosen[seed].tried) {
      sum += *search.tried[*tried].scores.at(seed);
      ++count;
    }
  return count > 0 ? sum / count : std::nan("");
}

}  // namespace ablate::config
