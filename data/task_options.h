#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::data {

struct TaskGenerator;  // data/tasks/generate.h

/// How outputs of a test set are scored: as text, as a label, not at all. Of `tokens` only the ids
/// are known, so no score is by character either.
enum class Compared { text, label, nothing, tokens };

/// The traits of a task, with the values that most tasks have.
struct TaskTraits {
  static constexpr std::string_view discriminator = "task";
  /// How its outputs are scored.
  static constexpr auto compared = Compared::text;
  /// Whether it is running text, for language models, in blocks of `block`.
  static constexpr bool running = false;
  /// Whether it knows how probable its targets are (TestSet::nats).
  static constexpr bool knows_probabilities = false;
  /// Whether its test set is its validation set.
  static constexpr bool tests_on_validation() { return false; }
};

/// Sizes every generated task shares.
struct Sizes {
  int64_t train = 20'000;
  int64_t validation = 500;
  int64_t test = 500;

  static void fields(auto& o, auto&& visit) {
    constexpr auto kExamples = options::from(1, 10'000'000);
    visit("train", o.train, "training examples", kExamples);
    visit("validation", o.validation, "validation examples", kExamples);
    visit("test", o.test, "test examples per length", kExamples);
  }
};

/// One test set is made for each size, so a size may be named once.
inline bool all_different(std::vector<int64_t> sizes) {
  std::ranges::sort(sizes);
  return std::ranges::adjacent_find(sizes) == sizes.end();
}

/// Shared members of the tasks over strings of symbols (copy, reverse, sort).
struct SymbolTask : TaskTraits {
  int64_t symbols = 16;
  std::array<int64_t, 2> train_length = {1, 12};
  std::vector<int64_t> test_length = {12};
  Sizes examples;

  static constexpr const char* unit = "symbols";  // of lengths
  static std::string test_name(int64_t length) { return "length " + std::to_string(length); }
  static void fields(auto& o, auto&& visit) {
    visit("symbols", o.symbols, "number of different symbols", options::from(2, 1000));
    visit("train_length", o.train_length, "shortest and longest training source, in symbols");
    visit("test_length", o.test_length, "one test set for each source length, in symbols");
    visit("examples", o.examples, "how many examples are generated");
  }
  static void rules(const SymbolTask& o, auto&& require) {
    require(o.train_length[0] >= 1 && o.train_length[0] <= o.train_length[1] &&
                o.train_length[1] <= 1000,
            "train_length", "must be [shortest, longest] with 1 <= shortest <= longest <= 1000");
    require(!o.test_length.empty() &&
                std::ranges::all_of(o.test_length,
                                    [](int64_t length) { return length >= 1 && length <= 1000; }),
            "test_length", "must list lengths from 1 to 1000");
    require(all_different(o.test_length), "test_length", "must list each length once");
  }
};

struct Copy : SymbolTask {
  static constexpr std::string_view name = "copy";
  static constexpr std::string_view about = "the source again";
  TaskGenerator generator() const;
};
struct Reverse : SymbolTask {
  static constexpr std::string_view name = "reverse";
  static constexpr std::string_view about = "the source from its end";
  TaskGenerator generator() const;
};
struct Sort : SymbolTask {
  static constexpr std::string_view name = "sort";
  static constexpr std::string_view about = "the source's symbols in alphabetical order";
  TaskGenerator generator() const;
};

struct Duplicate : SymbolTask {
  static constexpr std::string_view name = "duplicate";
  static constexpr std::string_view about =
      "the source twice (Delétang et al. 2022, arXiv 2207.02098)";
  TaskGenerator generator() const;
};
/// a = 0, b = 1, ...; the sum is a symbol.
struct Parity : SymbolTask {
  static constexpr std::string_view name = "parity";
  static constexpr std::string_view about =
      "the sum of the symbols' numbers modulo the number of symbols; of two, whether b occurs an "
      "odd number of times (Delétang et al. 2022, arXiv 2207.02098)";
  TaskGenerator generator() const;
  Parity() { symbols = 2; }
};

struct SelectiveCopy : SymbolTask {
  static constexpr std::string_view name = "selective_copy";
  static constexpr std::string_view about =
      "the symbols among blanks, in order (Gu & Dao 2023, arXiv 2312.00752)";
  TaskGenerator generator() const;
  int64_t marked = 4;

  static void fields(auto& o, auto&& visit) {
    SymbolTask::fields(o, visit);
    visit("marked", o.marked, "symbols in a source; the other positions are blank",
          options::from(1, 1000));
  }
  static void rules(const SelectiveCopy& o, auto&& require) { SymbolTask::rules(o, require); }
};

/// Numbers are below `symbols`; * binds more strongly. A length counts numbers.
struct ModularArithmetic : SymbolTask {
  static constexpr std::string_view name = "modular_arithmetic";
  static constexpr std::string_view about =
      "the value of an expression of +, - and *, modulo the number of symbols (Delétang et al. "
      "2022, arXiv 2207.02098)";
  TaskGenerator generator() const;
  ModularArithmetic() { symbols = 5; }
};

/// Of `symbols` kinds, at most `depth` deep.
struct Dyck : SymbolTask {
  static constexpr std::string_view name = "dyck";
  static constexpr std::string_view about =
      "the brackets that close the beginning of a balanced word";
  TaskGenerator generator() const;
  int64_t depth = 6;
  Dyck() { symbols = 2; }

  static void fields(auto& o, auto&& visit) {
    SymbolTask::fields(o, visit);
    visit("depth", o.depth, "maximum number of open brackets", options::from(2, 1000));
  }
  static void rules(const Dyck& o, auto&& require) { SymbolTask::rules(o, require); }
};

/// Keys and values are `symbols` each; a length counts pairs.
struct Recall : SymbolTask {
  static constexpr std::string_view name = "recall";
  static constexpr std::string_view about =
      "pairs of a key and a value, then keys, whose values are wanted (Arora et al. 2023, arXiv "
      "2312.04927)";
  TaskGenerator generator() const;
  int64_t queries = 2;
  Recall() {
    train_length = {2, 6};
    test_length = {6};
  }

  static void fields(auto& o, auto&& visit) {
    SymbolTask::fields(o, visit);
    visit("queries", o.queries, "queried keys per source, at most the number of pairs",
          options::at_least(1));
  }
  static void rules(const Recall& o, auto&& require) {
    SymbolTask::rules(o, require);
    require(
        o.train_length[1] <= o.symbols &&
            std::ranges::all_of(o.test_length, [&](int64_t length) { return length <= o.symbols; }),
        "symbols", "must be no fewer than the pairs, whose keys differ");
  }
};

/// From every key of `key` symbols to one symbol. All of it is trained on and tested.
struct Facts : TaskTraits {
  static constexpr std::string_view name = "facts";
  static constexpr std::string_view about =
      "a random table from keys to symbols, which needs memory and no rule";
  static constexpr const char* test_name = "facts";
  static constexpr bool knows_probabilities = true;
  int64_t symbols = 12;
  int64_t key = 3;

  static void fields(auto& o, auto&& visit) {
    visit("symbols", o.symbols, "number of different symbols", options::from(2, 1000));
    visit("key", o.key, "symbols per key; the number of facts is symbols ^ key");
  }
  static void rules(const Facts& o, auto&& require) {
    double facts = 1;
    for (int64_t i = 0; i < std::min<int64_t>(o.key, 64); ++i)
      facts *= static_cast<double>(o.symbols);
    require(o.key >= 1 && facts <= 1'000'000, "key", "must give from 2 to 1000000 facts");
  }
};

ABLATE_ENUM(TableOperation, add, subtract, multiply, divide, permute);

constexpr bool is_prime(int64_t number) {
  for (int64_t factor = 2; factor * factor <= number; ++factor)
    if (number % factor == 0) return false;
  return number >= 2;
}

/// A rule that is learned long after the trained part is known by heart.
struct Table : TaskTraits {
  static constexpr std::string_view name = "table";
  static constexpr std::string_view about =
      "the table of an operation of a group, of which a part is held out (Power et al. 2022, arXiv "
      "2201.02177)";
  static constexpr const char* test_name = "held out";
  TableOperation operation = TableOperation::add;
  int64_t modulus = 97;
  double share = 0.5;

  static void fields(auto& o, auto&& visit) {
    visit("operation", o.operation,
          "add, subtract, multiply or divide numbers modulo `modulus`, or permute: compose "
          "permutations of `modulus` elements");
    visit("modulus", o.modulus,
          "numbers are 0 to modulus - 1; divide needs a prime, and permute at most 6",
          options::from(2, 1000));
    visit("share", o.share,
          "share of the table for training; the rest is for validation and testing, half each",
          options::between(0, 1));
  }
  static void rules(const Table& o, auto&& require) {
    require(o.operation != TableOperation::divide || is_prime(o.modulus), "modulus",
            "must be a prime if the operation is divide, or else some quotients do not exist");
    require(o.operation != TableOperation::permute || (o.modulus >= 3 && o.modulus <= 6), "modulus",
            "must be from 3 to 6 if the operation is permute: 6 things have 720 permutations");
  }
};

/// Shared members of the tasks whose length is a number of decimal digits (1 to 15).
struct DigitTask : TaskTraits {
  int64_t train_digits = 4;
  std::vector<int64_t> test_digits = {4};
  Sizes examples{.train = 8'000, .validation = 300, .test = 300};

  static constexpr const char* unit = "digits";  // of lengths
  static std::string test_name(int64_t digits) {
    return std::to_string(digits) + (digits == 1 ? " digit" : " digits");
  }
  static void fields(auto& o, auto&& visit) {
    visit("train_digits", o.train_digits, "maximum number of digits of a training number",
          options::from(1, 15));
    visit("test_digits", o.test_digits, "one test set for each number of digits");
    visit("examples", o.examples, "how many examples are generated");
  }
  static void rules(const DigitTask& o, auto&& require) {
    require(!o.test_digits.empty() &&
                std::ranges::all_of(o.test_digits,
                                    [](int64_t digits) { return digits >= 1 && digits <= 15; }),
            "test_digits", "must list digits from 1 to 15");
    require(all_different(o.test_digits), "test_digits", "must list each count of digits once");
  }
};

/// `reversed` writes the sum from its last digit.
struct Addition : DigitTask {
  static constexpr std::string_view name = "addition";
  static constexpr std::string_view about =
      "the sum of two numbers, digit by digit: 12 + 345 -> 357";
  TaskGenerator generator() const;
  bool reversed = false;

  static void fields(auto& o, auto&& visit) {
    DigitTask::fields(o, visit);
    visit("reversed", o.reversed, "write the sum with its last digit first");
  }
};

/// Languages in which whole numbers can be spelled out (data/tasks/digit_tasks.h).
ABLATE_ENUM(NumberLanguage, en, de);

struct Numbers : DigitTask {
  static constexpr std::string_view name = "numbers";
  static constexpr std::string_view about = "numbers spelled out in two languages";
  TaskGenerator generator() const;
  NumberLanguage source = NumberLanguage::en;
  NumberLanguage target = NumberLanguage::de;

  static void fields(auto& o, auto&& visit) {
    visit("source", o.source, "language of the source side");
    visit("target", o.target, "language of the target side");
    DigitTask::fields(o, visit);
  }
};

}  // namespace ablate::data
