#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/lines.h"
#include "experiments/errors.h"
#include "tokenizer/text/unicode.h"
#include "training/metrics/bleu.h"
#include "training/metrics/chrf.h"
#include "training/metrics/rouge.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

struct MetricsRequest {
  std::string hypotheses, references;
  bool lowercase = false;
  bool json = false;
};

/// The word error rate, of lines in lower case if the case of letters is ignored.
double word_error_rate_of(std::vector<std::string> hypotheses, std::vector<std::string> references,
                          bool lowercase) {
  if (lowercase)
    for (auto* lines : {&hypotheses, &references})
      for (auto& line : *lines) line = tokenizer::lower_case(line);
  return training::word_error_rate(hypotheses, references);
}

/// null if a metric is undefined for these references.
nlohmann::json defined_json(bool defined, double value) {
  return defined ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json score_json(const training::BleuScore& score) {
  return {{"score", defined_json(score.defined, score.score)},
          {"precisions", score.precisions},
          {"brevity_penalty", score.brevity_penalty},
          {"hypothesis_length", score.hypothesis_length},
          {"reference_length", score.reference_length},
          {"signature", score.signature}};
}

struct Scores {
  training::BleuScore bleu;
  training::ChrfScore chrf;
  training::RougeScore rouge;
  double word_error_rate;
};

void print_scores(const Scores& scores) {
  const auto& [bleu, chrf, rouge, word_error_rate] = scores;
  const auto& p = bleu.precisions;
  if (!bleu.defined)
    std::cout << "BLEU   not defined: it counts up to four words in a row, and no reference has "
                 "four\n";
  else
    std::cout << fmt::format(
        "BLEU   {:.2f}  precisions {:.1f}/{:.1f}/{:.1f}/{:.1f}, brevity penalty {:.3f}, {} of {} "
        "tokens\n       {}\n",
        bleu.score, p[0], p[1], p[2], p[3], bleu.brevity_penalty, bleu.hypothesis_length,
        bleu.reference_length, bleu.signature);
  if (!chrf.defined)
    std::cout << "chrF2  not defined: the references are empty\n";
  else
    std::cout << fmt::format("chrF2  {:.2f}\n       {}\n", chrf.score, chrf.signature);
  if (!rouge.defined)
    std::cout << "ROUGE  not defined: it counts only words of a to z and 0 to 9, and the "
                 "references have none, or most of their letters are others\n";
  else
    std::cout << fmt::format("ROUGE  {:.3f} (1), {:.3f} (2), {:.3f} (L)\n", rouge.one, rouge.two,
                             rouge.longest);
  if (std::isnan(word_error_rate))
    std::cout << "WER    not defined: the references have no words\n";
  else
    std::cout << fmt::format("WER    {:.4f}\n", word_error_rate);
}

void compare_systems(const MetricsRequest& request) {
  if (request.hypotheses == "-" && request.references == "-")
    throw UsageError("only one of --hypotheses and --references can be standard input (-)");
  const auto hypotheses = read_text(request.hypotheses), references = read_text(request.references);
  if (hypotheses.size() != references.size())
    throw data::DataError(fmt::format(
        "{} has {} lines and {} has {}; a line of one must belong to a line of the other",
        request.hypotheses, hypotheses.size(), request.references, references.size()));
  if (hypotheses.empty()) throw data::DataError(request.hypotheses + " has no lines");
  const Scores scores{
      .bleu = training::bleu(hypotheses, references, {.lowercase = request.lowercase}),
      .chrf = training::chrf(hypotheses, references, {.lowercase = request.lowercase}),
      .rouge = training::rouge(hypotheses, references),
      .word_error_rate = word_error_rate_of(hypotheses, references, request.lowercase)};
  if (!request.json) return print_scores(scores);
  std::cout << training::without_non_finite(
                   {{"lines", hypotheses.size()},
                    {"bleu", score_json(scores.bleu)},
                    {"chrf",
                     {{"score", defined_json(scores.chrf.defined, scores.chrf.score)},
                      {"signature", scores.chrf.signature}}},
                    {"rouge_1", defined_json(scores.rouge.defined, scores.rouge.one)},
                    {"rouge_2", defined_json(scores.rouge.defined, scores.rouge.two)},
                    {"rouge_l", defined_json(scores.rouge.defined, scores.rouge.longest)},
                    {"word_error_rate",
                     defined_json(!std::isnan(scores.word_error_rate), scores.word_error_rate)}})
            << '\n';
}

}  // namespace

void add_metrics(CLI::App& app) {
  auto request = std::make_shared<MetricsRequest>();
  auto* verb = app.add_subcommand(
      "metrics",
      "Print BLEU and chrF of translations, as sacreBLEU, ROUGE, and the word error rate");
  verb->add_option("--hypotheses", request->hypotheses, "Translations, one a line; - for input")
      ->required();
  verb->add_option("--references", request->references, "The references, line for line")
      ->required();
  verb->add_flag("--lowercase", request->lowercase,
                 "Ignore the case of letters, as ROUGE always does");
  verb->add_flag("--json", request->json, "Print one JSON object");
  verb->footer(
      "Example:\n  ablate metrics --hypotheses out.de --references test_2016_flickr.de --json");
  verb->callback([request] { compare_systems(*request); });
}

}  // namespace ablate::commands
