#include "experiments/analysis/sentence_test.h"

#include <algorithm>
#include <span>

#include "experiments/records/result.h"
#include "training/metrics/bleu.h"
#include "training/metrics/chrf.h"
#include "training/storage/durable_file.h"

namespace ablate::analysis {
namespace {

using Numbers = std::span<const int64_t>;
using statistics::SentenceTable;

void add_row(SentenceTable& table, const training::BleuStatistics& s) {
  table.numbers.insert(table.numbers.end(), s.correct.begin(), s.correct.end());
  table.numbers.insert(table.numbers.end(), s.total.begin(), s.total.end());
  table.numbers.insert(table.numbers.end(), {s.hypothesis_length, s.reference_length});
  table.width = 2 * s.correct.size() + 2;
}

double bleu_of(Numbers row) {
  training::BleuStatistics s;
  std::copy_n(row.begin(), 4, s.correct.begin());
  std::copy_n(row.begin() + 4, 4, s.total.begin());
  s.hypothesis_length = row[8];
  s.reference_length = row[9];
  return training::bleu(s).score;
}

void add_row(SentenceTable& table, const training::ChrfStatistics& s) {
  for (const auto& order : s.orders)
    table.numbers.insert(table.numbers.end(), {order.hypothesis, order.reference, order.matches});
  table.width = 3 * s.orders.size();
}

double chrf_of(Numbers row) {
  training::ChrfStatistics s;
  for (size_t i = 0; i < row.size(); i += 3) s.orders.push_back({row[i], row[i + 1], row[i + 2]});
  return training::chrf(s).score;
}

SentenceTest paired_test(const SentenceTable& arm, const SentenceTable& baseline,
                         const statistics::CorpusScore& score) {
  const double difference = score(total(arm)) - score(total(baseline));
  // sacreBLEU's p of 0 beside 0 in every sample is the smallest one.
  if (difference == 0) return {};
  return {.difference = difference,
          .bootstrap_p = statistics::bootstrap_p(baseline, arm, score),
          .randomisation_p = statistics::randomisation_p(baseline, arm, score)};
}

std::optional<Lines> read_lines(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const auto text = training::read_bytes(file);
  Lines lines;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

}  // namespace

ScoredSentences score_sentences(const Lines& outputs, const Lines& references) {
  ScoredSentences scored{.bleu = {}, .chrf = {}, .references = references};
  for (size_t i = 0; i < outputs.size(); ++i) {
    add_row(scored.bleu, training::bleu_statistics(outputs[i], references[i]));
    add_row(scored.chrf, training::chrf_statistics(outputs[i], references[i]));
  }
  return scored;
}

SentenceTest bleu_test(const ScoredSentences& arm, const ScoredSentences& baseline) {
  return paired_test(arm.bleu, baseline.bleu, bleu_of);
}

SentenceTest chrf_test(const ScoredSentences& arm, const ScoredSentences& baseline) {
  return paired_test(arm.chrf, baseline.chrf, chrf_of);
}

namespace {

/// The counts of a run folder; absent if outputs or references of the test set are missing, or
/// their numbers of lines differ.
std::optional<ScoredSentences> read_sentences(const records::RunFolder& run,
                                              const std::string& test_set) {
  const auto outputs = read_lines(run.outputs(test_set));
  const auto references = read_lines(run.references(test_set));
  if (!outputs || !references || outputs->empty() || outputs->size() != references->size())
    return {};
  return score_sentences(*outputs, *references);
}

/// The outputs of one arm on one test set, a value for each seed.
using Outputs = std::vector<std::optional<ScoredSentences>>;

Outputs read_outputs(const config::Study& study, const records::StudyFolder& folder,
                     const config::RunSpecification& any, const std::string& test_set) {
  Outputs outputs;
  for (const int64_t seed : study.seeds) {
    auto run = any;
    run.seed = seed;
    outputs.push_back(read_sentences(folder.run(run), test_set));
  }
  return outputs;
}

void add_tests(Cell& cell, const Outputs& arm, const Outputs& baseline,
               const std::vector<int64_t>& seeds) {
  const bool bleu = cell.metric == "bleu";
  if (cell.sample.count == 0 || (!bleu && cell.metric != "chrf")) return;
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (!arm[i] || !baseline[i]) continue;
    if (arm[i]->references != baseline[i]->references) continue;
    auto test = bleu ? bleu_test(*arm[i], *baseline[i]) : chrf_test(*arm[i], *baseline[i]);
    test.seed = seeds[i];
    cell.sentence_tests.push_back(test);
  }
}

}  // namespace

void add_sentence_tests(TaskEvidence& task, const config::Study& study,
                        const records::StudyFolder& folder) {
  for (auto& arm : task.arms) {
    const auto* baseline = baseline_of(task, arm);
    if (baseline == nullptr) continue;
    const auto& reference = *config::find_run(study, task.name, baseline->name);
    if (!std::holds_alternative<data::Text>(reference.experiment.data)) continue;
    for (const auto& cell : baseline->cells) {
      if (cell.metric != "bleu") continue;
      const auto of_baseline = read_outputs(study, folder, reference, cell.test_set);
      const auto mine =
          read_outputs(study, folder, *config::find_run(study, task.name, arm.name), cell.test_set);
      for (auto& other : arm.cells)
        if (other.test_set == cell.test_set) add_tests(other, mine, of_baseline, study.seeds);
    }
  }
}

}  // namespace ablate::analysis
