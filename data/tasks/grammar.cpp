#include "data/tasks/grammar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace ablate::data {
namespace {

constexpr int64_t kTerminals = 3;

/// The rules of a level's symbols, a word of digits for each.
using Row = std::array<std::string_view, 3>;

/// The grammars' rules are those of the configurations in facebookresearch/PhysicsLM4, folder
/// data-synthetic-pretrain/Lano-cfg (Apache 2.0).
constexpr std::array<Row, 6> kCfg3b{{{"21 10", "", ""},
                                     {"012 120", "102 01", "20 021"},
                                     {"20 021", "102 201", "210 10"},
                                     {"12 21", "102 012", "210 120"},
                                     {"021 210", "102 012", "120 201"},
                                     {"20 012", "21 201", "210 10"}}};
constexpr std::array<Row, 6> kCfg3f{{{"12 102 200 11", "", ""},
                                     {"202 12 22", "00 01 102", "21 10 012 02"},
                                     {"22 020 10 11", "210 12 21", "120 200 02"},
                                     {"12 212 021", "02 202 21 022", "011 110 00 221"},
                                     {"122 202 022", "11 20 200", "020 21 112"},
                                     {"110 211 201 21", "200 01 220", "010 22 00"}}};
constexpr std::array<Row, 7> kCfg3j{{{"00 10 212", "", ""},
                                     {"01 002 100", "201 21 011", "00 120 022"},
                                     {"110 022 01", "111 22 212", "20 011 020"},
                                     {"12 02 22", "11 222 21", "102 001 01"},
                                     {"02 20 11", "01 210 011", "122 00 12"},
                                     {"002 10 21", "011 22 11", "001 100 211"},
                                     {"01 11 221", "20 12 001", "210 02 21"}}};
constexpr std::array<Row, 7> kCfg3k{{{"01 22 21", "", ""},
                                     {"20 211 22 02", "121 122 11 01", "21 12 002"},
                                     {"120 20 202 221", "111 02 110 210", "21 020 100 122"},
                                     {"21 12 212 100", "121 200 22", "11 20 011"},
                                     {"022 112 22", "01 011 100 11", "21 00 12"},
                                     {"00 11 220 020", "102 000 010", "01 110 202 12"},
                                     {"22 020 10", "12 001 20 011", "022 11 000 212"}}};

/// The published grammars, in the order of GrammarName.
constexpr std::array<std::span<const Row>, 4> kGrammars{kCfg3b, kCfg3f, kCfg3j, kCfg3k};

static_assert(std::ranges::all_of(names(GrammarName{}), [](const auto& named) {
  return std::ssize(kGrammars.at(static_cast<size_t>(named.first))) == levels_of(named.first);
}));

std::vector<std::vector<int64_t>> rules_of(std::string_view words) {
  std::vector<std::vector<int64_t>> rules(words.empty() ? 0 : 1);
  for (const char letter : words) {
    if (letter == ' ')
      rules.emplace_back();
    else
      rules.back().push_back(letter - '0');
  }
  return rules;
}

/// A place at which a symbol may end, and the probability that it ends there.
struct End {
  size_t at;
  double probability;
};
/// Of a symbol, for every beginning.
using Ends = std::vector<std::vector<End>>;

/// The places with a probability.
std::vector<End> positive(const std::vector<double>& probabilities) {
  std::vector<End> ends;
  for (size_t at = 0; at < probabilities.size(); ++at)
    if (probabilities[at] > 0) ends.push_back({.at = at, .probability = probabilities[at]});
  return ends;
}

/// The ends of symbols that follow one another from `begin` on.
std::vector<End> ends_of(std::span<const int64_t> symbols, const std::vector<Ends>& below,
                         size_t begin) {
  std::vector<End> ends{{.at = begin, .probability = 1}};
  const auto length = below.front().size();
  for (const int64_t symbol : symbols) {
    std::vector<double> sums(length + 1);
    for (const auto& [at, probability] : ends)
      if (at < length)
        for (const auto& next : below[static_cast<size_t>(symbol)][at])
          sums[next.at] += probability * next.probability;
    ends = positive(sums);
  }
  return ends;
}

/// The ends of a symbol with these rules, from the first `beginnings` places.
Ends ends_of_symbol(const std::vector<std::vector<int64_t>>& rules, const std::vector<Ends>& below,
                    size_t beginnings) {
  const auto length = below.front().size();
  Ends ends(length);
  for (size_t begin = 0; begin < beginnings; ++begin) {
    std::vector<double> sums(length + 1);
    for (const auto& rule : rules)
      for (const auto& end : ends_of(rule, below, begin))
        sums[end.at] += end.probability / static_cast<double>(rules.size());
    ends[begin] = positive(sums);
  }
  return ends;
}

std::string text_of(const std::vector<int64_t>& string) {
  std::string text;
  for (const int64_t symbol : string)
    text += (text.empty() ? "" : " ") + std::to_string(symbol + 1);
  return text;
}

}  // namespace

Grammar::Grammar(const Lano& task) {
  const auto rows = kGrammars.at(static_cast<size_t>(task.grammar));
  const auto used = static_cast<size_t>(task.levels.value_or(std::ssize(rows)));
  for (const auto& row : rows.last(used)) {
    levels_.emplace_back();
    for (const auto words : row) levels_.back().push_back(rules_of(words));
  }
}

std::vector<int64_t> Grammar::draw(Random& random) const {
  std::vector<int64_t> string{0};
  for (const auto& level : levels_) {
    std::vector<int64_t> lower;
    for (const int64_t symbol : string) {
      const auto& rules = level[static_cast<size_t>(symbol)];
      const auto& rule = rules[static_cast<size_t>(random.below(std::ssize(rules)))];
      lower.insert(lower.end(), rule.begin(), rule.end());
    }
    string = std::move(lower);
  }
  return string;
}

double Grammar::log_probability(std::span<const int64_t> string) const {
  if (string.empty()) return -std::numeric_limits<double>::infinity();
  // Strings of a thousand symbols have probabilities below those that a double holds.
  constexpr double kPerSymbol = 2;
  std::vector<Ends> ends(kTerminals, Ends(string.size()));
  for (size_t at = 0; at < string.size(); ++at)
    ends[static_cast<size_t>(string[at])][at] = {{.at = at + 1, .probability = kPerSymbol}};
  for (size_t level = levels_.size(); level-- > 0;) {
    std::vector<Ends> upper;
    for (const auto& rules : levels_[level])
      upper.push_back(ends_of_symbol(rules, ends, level == 0 ? 1 : string.size()));
    ends = std::move(upper);
  }
  double whole = 0;
  for (const auto& end : ends.front().front())
    if (end.at == string.size()) whole = end.probability;
  return std::log(whole) - static_cast<double>(string.size()) * std::log(kPerSymbol);
}

Corpus grammar_text(const Lano& task, uint64_t seed) {
  const Grammar grammar(task);
  const auto drawn = [&](const char* purpose, int64_t count) {
    Random random(seed, purpose);
    std::vector<std::vector<int64_t>> strings;
    for (int64_t i = 0; i < count; ++i) strings.push_back(grammar.draw(random));
    return strings;
  };
  const auto lines_of = [](const std::vector<std::vector<int64_t>>& strings) {
    std::vector<Example> lines;
    for (const auto& string : strings) lines.push_back({.source = {}, .target = text_of(string)});
    return lines;
  };
  const auto tested = drawn("test", task.examples.test);
  double nats = 0;
  for (const auto& string : tested) nats -= grammar.log_probability(string);
  Corpus corpus{.train = lines_of(drawn("train", task.examples.train)),
                .validation = lines_of(drawn("validation", task.examples.validation))};
  corpus.tests.push_back({.name = Lano::test_name, .examples = lines_of(tested), .nats = nats});
  return corpus;
}

}  // namespace ablate::data
