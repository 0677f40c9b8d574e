#include "experiments/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace ablate::experiments {
namespace {

using Group = std::vector<const RunResult*>;  // the seeds of one task and arm
using Row = std::vector<std::string>;

/// Mean, and sample standard deviation where there are two runs or more.
std::string summary(const std::vector<double>& values, int digits) {
  double mean = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  if (std::isnan(mean)) return "-";
  if (values.size() < 2) return fmt::format("{:.{}f}", mean, digits);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return fmt::format("{:.{}f} ± {:.{}f}", mean, digits, deviation, digits);
}

std::string over_runs(const Group& group, int digits,
                      const std::function<double(const RunResult&)>& value) {
  std::vector<double> values;
  for (const auto* run : group) values.push_back(value(*run));
  return summary(values, digits);
}

std::string count(int64_t number) {
  if (number >= 10'000'000) return fmt::format("{:.1f} M", static_cast<double>(number) / 1e6);
  if (number >= 1'000'000) return fmt::format("{:.2f} M", static_cast<double>(number) / 1e6);
  return fmt::format("{} k", (number + 500) / 1000);
}

/// Columns in a terminal: a multi-byte sign counts once.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::string layout(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string pad(widths[i] - width(rows[r][i]), ' ');
      line += "  " + (i == 0 || i == 1 ? rows[r][i] + pad : pad + rows[r][i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r == 0) {
      size_t total = 0;
      for (const size_t one : widths) total += one + 2;
      text += "  " + std::string(total - 2, '-') + "\n";
    }
  }
  return text;
}

/// All parameters, and where a position uses only some, those.
std::string parameters_of(const RunResult& run) {
  const auto all = count(run.parameters);
  return run.active_parameters < run.parameters ? count(run.active_parameters) + " of " + all : all;
}

Row row_of(const Group& group, size_t test, bool first) {
  const auto& sample = *group.front();
  const auto& scores = sample.tests[test];
  const auto of = [&](int digits, double TestScores::*member) {
    return over_runs(group, digits, [&](const RunResult& run) { return run.tests[test].*member; });
  };
  Row row{first ? sample.arm : "",
          scores.name + (scores.beyond ? " (beyond)" : ""),
          fmt::format("{:.1f}/{:.1f}", scores.source_pieces, scores.target_pieces),
          first ? parameters_of(sample) : "",
          first ? fmt::format("{:.3g}", sample.flops_per_token / 1e6) : "",
          first ? over_runs(group, 3, [](const RunResult& run) { return run.train_loss; }) : "",
          first
              ? over_runs(group, 3, [](const RunResult& run) { return run.validation_perplexity; })
              : ""};
  switch (scores.compared) {
    case Compared::text:
      row.insert(row.end(), {of(1, &TestScores::bleu), of(1, &TestScores::chrf),
                             of(3, &TestScores::exact_match), of(3, &TestScores::token_accuracy)});
      break;
    case Compared::label:
      row.push_back(of(3, &TestScores::exact_match));
      break;
    case Compared::nothing:
      row.insert(row.end(),
                 {of(3, &TestScores::token_accuracy), of(4, &TestScores::nats_per_character)});
  }
  return row;
}

std::string task_table(const std::string& task, const std::vector<Group>& arms) {
  Row heading{"arm",          "test set",   "pieces in/out", "parameters",
              "MFLOPs/piece", "train loss", "valid. ppl"};
  switch (arms.front().front()->tests.front().compared) {
    case Compared::text:
      heading.insert(heading.end(), {"BLEU", "chrF", "exact match", "token acc."});
      break;
    case Compared::label:
      heading.push_back("accuracy");
      break;
    case Compared::nothing:
      heading.insert(heading.end(), {"token acc.", "nats/char"});
  }
  std::vector<Row> rows{heading};
  for (const auto& group : arms)
    for (size_t test = 0; test < group.front()->tests.size(); ++test)
      rows.push_back(row_of(group, test, test == 0));
  return task + "\n" + layout(rows);
}

template <class Get>
std::vector<std::string> distinct(std::span<const RunResult> results, Get get) {
  std::vector<std::string> seen;
  for (const auto& result : results)
    if (std::ranges::find(seen, get(result)) == seen.end()) seen.push_back(get(result));
  return seen;
}

std::string notes(std::span<const RunResult> results) {
  std::set<int64_t> seeds;
  std::string text;
  for (const auto& run : results) {
    seeds.insert(run.seed);
    const auto name = fmt::format("{}/{}/seed-{}", run.task, run.arm, run.seed);
    if (run.skipped_lines > 0)
      text += fmt::format("{}: {} bad lines left out\n", name, run.skipped_lines);
    if (run.cut_sources + run.cut_targets > 0)
      text += fmt::format("{}: {} sources and {} targets cut at the length limit\n", name,
                          run.cut_sources, run.cut_targets);
    if (run.skipped_updates > 0)
      text += fmt::format("{}: {} updates left out (not finite)\n", name, run.skipped_updates);
  }
  const auto decoded = std::ranges::find_if(
      results, [](const RunResult& run) { return !run.bleu_signature.empty(); });
  if (decoded != results.end())
    text += "BLEU: " + decoded->bleu_signature + "\nchrF: " + decoded->chrf_signature +
            "\nToken accuracy is teacher-forced; the other scores are of decoded text.\n";
  if (seeds.size() == 1)
    text += "One seed supports no claim about the arms: differences may be chance.\n";
  else if (seeds.size() < 6)
    text += fmt::format("{} seeds are too few for a significant difference; six can show one.\n",
                        seeds.size());
  return text;
}

}  // namespace

std::string table(std::span<const RunResult> results) {
  if (results.empty()) return "no run has finished\n";
  std::string text;
  for (const auto& task : distinct(results, [](const RunResult& run) { return run.task; })) {
    std::vector<Group> arms;
    for (const auto& arm : distinct(results, [](const RunResult& run) { return run.arm; })) {
      Group group;
      for (const auto& run : results)
        if (run.task == task && run.arm == arm) group.push_back(&run);
      if (!group.empty()) arms.push_back(std::move(group));
    }
    text += task_table(task, arms) + "\n";
  }
  return text + notes(results);
}

std::string score_line(const TestScores& scores) {
  auto text = scores.name + (scores.beyond ? " (beyond): " : ": ");
  if (scores.compared == Compared::text)
    text += fmt::format("BLEU {:.2f}, chrF {:.2f}, ", scores.bleu, scores.chrf);
  if (scores.compared != Compared::nothing)
    text += fmt::format("exact match {:.3f}, ", scores.exact_match);
  text += fmt::format("token accuracy {:.3f}, perplexity {:.3f}", scores.token_accuracy,
                      scores.perplexity);
  if (!std::isnan(scores.nats_per_character))
    text += fmt::format(", {:.4f} nats per character", scores.nats_per_character);
  return text + fmt::format(" ({} examples)", scores.examples);
}

}  // namespace ablate::experiments
