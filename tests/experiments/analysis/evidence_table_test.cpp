#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/errors.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/message_table.h"
#include "training/storage/finite_json.h"

namespace ablate::analysis {
namespace {

/// The text of a row: a study, and lines on the results of its runs.
///
///     scores a: 0.5 0.6          exact match on "length 12" for each seed; one number: for all
///     beyond a: 0.5 0.6          the same on "length 13", which is otherwise 0
///     of a/2: {"steps": 3}       other fields of a run's result; null: it has not finished
///     test a: {"bleu": "NaN"}    other scores on "length 12"
///
/// The name may be that of an arm or `all`.
class SyntheticRuns {
 public:
  explicit SyntheticRuns(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read(line);
  }

  const std::string& yaml() const { return yaml_; }

  records::StudyRuns of(const config::Study& study) const {
    auto runs = runs_of(for_each_seed(within_, study), for_each_seed(beyond_, study));
    for (const auto& [word, name, values] : changes_) {
      const auto is_named = [&](const records::RunResult& run) {
        return name == "all" || name == run.arm || name == fmt::format("{}/{}", run.arm, run.seed);
      };
      if (values.is_null()) std::erase_if(runs.results, is_named);
      for (auto& run : runs.results)
        if (is_named(run)) run = changed(run, word, values);
    }
    return runs;
  }

 private:
  struct Change {
    std::string word, name;
    nlohmann::json values;
  };

  void read(const std::string& line) {
    const auto blank = line.find(' '), colon = line.find(": ");
    const auto word = line.substr(0, blank);
    if (word != "scores" && word != "beyond" && word != "of" && word != "test") {
      yaml_ += line + "\n";
      return;
    }
    const auto name = line.substr(blank + 1, colon - blank - 1), rest = line.substr(colon + 2);
    if (word == "of" || word == "test") {
      changes_.push_back({word, name, nlohmann::json::parse(rest)});
      return;
    }
    auto& scores = (word == "scores" ? within_ : beyond_)[name];
    std::istringstream numbers(rest);
    scores.assign(std::istream_iterator<double>(numbers), {});
  }

  static Scores for_each_seed(Scores scores, const config::Study& study) {
    for (auto& [arm, values] : scores)
      if (values.size() == 1) values.assign(study.seeds.size(), values[0]);
    return scores;
  }

  static records::RunResult changed(const records::RunResult& run, const std::string& word,
                                    const nlohmann::json& values) {
    auto json = training::to_json(run);
    (word == "of" ? json : json["tests"][0]).merge_patch(values);
    return training::from_json<records::RunResult>(json);
  }

  std::string yaml_;
  Scores within_, beyond_;
  std::vector<Change> changes_;
};

/// The comparisons of the primary metric on the test sets of claims or on the others: the verdict,
/// the probability that the arm is better, the outcome of its claim, and the sentence.
std::string comparisons_of(const Evidence& evidence, bool primary) {
  std::string text;
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells) {
        if (!cell.contrast || cell.metric != task.metric || cell.primary != primary) continue;
        text += fmt::format("{} on {}: {}, better with {:.3f}", arm.name, cell.test_set,
                            config::word_of(cell.contrast->verdict), cell.contrast->improvement);
        if (const auto& claim = cell.contrast->outcome)
          text += fmt::format(", claim: {}", config::word_of(*claim));
        text += fmt::format("; {}\n", cell.contrast->sentence);
      }
  return text;
}

Evidence evidence_in(const MessageRow& row) {
  const SyntheticRuns runs(row.text);
  const auto study =
      study_of(runs.yaml(), {.sets = row.values("--set"), .arms = row.values("--arms")});
  return make_evidence(study, runs.of(study));
}

/// The answers to the questions of a row, each on its own line.
std::string parts_of(const Evidence& evidence, const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) {
    if (part == "answer") text += evidence.answer + "\n";
    if (part == "comparisons") text += comparisons_of(evidence, true);
    if (part == "exploratory") text += comparisons_of(evidence, false);
    if (part == "families")
      for (const auto& task : evidence.tasks) text += task.family + "\n";
    if (part == "notes")
      for (const auto& note : evidence.notes) text += note + "\n";
    if (part == "expectations")
      for (const auto& one : evidence.expectations)
        text += fmt::format("{}: {}: {}\n", one.holds ? "holds" : "fails", one.text, one.numbers);
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string answer(const MessageRow& row) {
  try {
    return parts_of(evidence_in(row), row.values("--show"));
  } catch (const UsageError& error) {
    return std::string("refused: ") + error.what();
  }
}

class EvidenceTables : public testing::TestWithParam<const char*> {};

TEST_P(EvidenceTables, SayWhatTheProgramSays) {
  MessageTable(std::string(ABLATE_SOURCE "/tests/experiments/analysis/evidence/") + GetParam() +
               ".txt")
      .check(answer);
}

INSTANTIATE_TEST_SUITE_P(Each, EvidenceTables,
                         testing::Values("answers", "claims", "comparisons", "expectations",
                                         "notes"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace ablate::analysis
