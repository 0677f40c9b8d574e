#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/task_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

/// The five tasks of Allen-Zhu 2025 (Physics of Language Models 4.1): depth and breadth of
/// reasoning, capacity and manipulation of knowledge, and structure of language.
namespace ablate::data {

/// Shared members of the tasks over graphs, which have a node for each of a source's length, named
/// by `symbols` names.
struct GraphTask : SymbolTask {
  GraphTask() {
    symbols = 26;
    train_length = {3, 12};
    test_length = {12};
  }
  static void rules(const GraphTask& o, auto&& require) {
    SymbolTask::rules(o, require);
    require(o.train_length[0] >= 2, "train_length", "must begin at 2 nodes or more");
    require(std::ranges::all_of(o.test_length, [](int64_t length) { return length >= 2; }),
            "test_length", "must list lengths from 2 on");
    require(
        o.train_length[1] <= o.symbols &&
            std::ranges::all_of(o.test_length, [&](int64_t length) { return length <= o.symbols; }),
        "symbols", "must be no fewer than the nodes, whose names differ");
  }
};

/// The source has the edges of a directed cycle in random order, the number k and the node.
struct Depo : GraphTask {
  static constexpr std::string_view name = "depo";
  static constexpr std::string_view about =
      "depth: the k-th successor of a node on a cycle whose edges are shuffled (Allen-Zhu 2025, "
      "arXiv 2512.17351)";
  TaskGenerator generator() const;
  int64_t hops = 4;

  static void fields(auto& o, auto&& visit) {
    SymbolTask::fields(o, visit);
    visit("hops", o.hops, "largest number of steps along the cycle; the source names the number",
          options::from(1, 1000));
  }
  static void rules(const Depo& o, auto&& require) { GraphTask::rules(o, require); }
};

/// The source has the edges of a directed graph without cycles in random order, and the node. The
/// target ends with the node itself; if several nodes may come next, the first in the alphabet
/// does.
struct Brevo : GraphTask {
  static constexpr std::string_view name = "brevo";
  static constexpr std::string_view about =
      "breadth: all nodes that a node of a graph depends on, in topological order (Allen-Zhu 2025, "
      "arXiv 2512.17351)";
  TaskGenerator generator() const;
  int64_t needs = 3;

  static void fields(auto& o, auto&& visit) {
    SymbolTask::fields(o, visit);
    visit("needs", o.needs, "largest number of nodes that a node depends on directly",
          options::from(1, 16));
  }
  static void rules(const Brevo& o, auto&& require) { GraphTask::rules(o, require); }
};

/// Over numbers below `symbols`, the modulus. A length counts operations.
struct Mano : SymbolTask {
  static constexpr std::string_view name = "mano";
  static constexpr std::string_view about =
      "manipulation of knowledge: the value of an expression of +, - and * before their sides, "
      "modulo a number (Allen-Zhu 2025, arXiv 2512.17351)";
  TaskGenerator generator() const;
  Mano() {
    symbols = 23;
    train_length = {1, 4};
    test_length = {4};
  }
};

/// Of the form of bioS (Physics of Language Models 3.3): every biography of a person says the same
/// in other words. A source is the words of a name, a target a drawn template and the value for
/// every attribute.
struct Capo : TaskTraits {
  static constexpr std::string_view name = "capo";
  static constexpr std::string_view about =
      "capacity for knowledge: biographies of people with drawn attributes (Allen-Zhu & Li 2024, "
      "arXiv 2404.05405)";
  static constexpr const char* test_name = "people";
  static constexpr bool knows_probabilities = true;
  int64_t people = 1000;
  int64_t versions = 10;
  int64_t templates = 50;
  std::vector<int64_t> names = {400, 400, 1000};
  std::vector<int64_t> values = {2, 12, 28, 200, 200, 300, 100, 263};

  static void fields(auto& o, auto&& visit) {
    visit("people", o.people, "people, each known by a name of its own",
          options::from(2, 1'000'000));
    visit("versions", o.versions, "training biographies of each", options::from(1, 1000));
    visit("templates", o.templates, "ways to say an attribute, of which every biography draws one",
          options::from(1, 1000));
    visit("names", o.names,
          "number of different words at each place of a name; as published: first, middle and last "
          "names");
    visit("values", o.values,
          "number of values of each attribute, all equally likely; as published: pronoun, month, "
          "day and year of birth, city, university, field and employer, 47.6 bits");
  }
  static void rules(const Capo& o, auto&& require) {
    const auto bounded = [](int64_t count) { return count >= 1 && count <= 10'000; };
    require(!o.names.empty() && std::ranges::all_of(o.names, bounded), "names",
            "must list numbers from 1 to 10000");
    require(!o.values.empty() && o.values.size() <= 64 && std::ranges::all_of(o.values, bounded),
            "values", "must list up to 64 numbers from 1 to 10000");
    double possible = 1;
    for (const int64_t words : o.names) possible *= static_cast<double>(words);
    require(possible >= 2 * static_cast<double>(o.people), "names",
            "must make at least twice as many names as there are people");
  }
};

/// The published grammars of Lano.
ABLATE_ENUM(GrammarName, cfg3b, cfg3f, cfg3j, cfg3k);

/// Symbol levels of a grammar above its terminals.
constexpr int64_t levels_of(GrammarName grammar) {
  return grammar == GrammarName::cfg3b || grammar == GrammarName::cfg3f ? 6 : 7;
}

/// Physics of Language Models 1; each string has an end token behind it.
struct Lano : TaskTraits {
  static constexpr std::string_view name = "lano";
  static constexpr std::string_view about =
      "structure of language: running text of a context-free grammar (Allen-Zhu & Li 2023, arXiv "
      "2305.13673)";
  static constexpr const char* test_name = "test";
  static constexpr auto compared = Compared::nothing;
  static constexpr bool running = true, knows_probabilities = true;
  GrammarName grammar = GrammarName::cfg3f;
  std::optional<int64_t> levels;
  int64_t block = 512;
  Sizes examples{.train = 20'000, .validation = 100, .test = 100};

  static void fields(auto& o, auto&& visit) {
    visit("grammar", o.grammar,
          "cfg3b, which is easy, and cfg3f have six levels; cfg3j and cfg3k have seven, and were "
          "published with blocks of 1536");
    visit("levels", o.levels,
          "use only this many of the lowest levels, each of which makes two or three symbols of "
          "one; absent: all");
    visit("block", o.block, "predicted tokens per block, as in the task language",
          options::from(2, 65'536));
    visit("examples", o.examples, "how many strings are generated");
  }
  static void rules(const Lano& o, auto&& require) {
    require(o.levels.value_or(1) >= 1 && o.levels.value_or(1) <= levels_of(o.grammar), "levels",
            "must be from 1 to the grammar's, 6 of cfg3b and cfg3f and 7 of cfg3j and cfg3k");
  }
};

}  // namespace ablate::data
