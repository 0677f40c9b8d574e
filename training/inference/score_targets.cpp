#include "training/inference/score_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/batch.h"
#include "models/inference/search.h"
#include "training/inference/length_check.h"
#include "training/storage/errors.h"
#include "training/update.h"

namespace ablate::training {

std::vector<std::optional<double>> score_targets(const Translator& translator,
                                                 std::span<const data::Example> examples,
                                                 int64_t rows) {
  const auto encoded = translator.format.encode_each(examples, translator.tokenizers).examples;
  check_lengths(translator.model.options(), "the given lines", encoded);
  std::vector<size_t> lengths;
  std::vector<int64_t> read;
  for (size_t i = 0; i < encoded.size(); ++i) {
    if (!translator.format.encode_source(examples[i].source, translator.tokenizers)) continue;
    read.push_back(static_cast<int64_t>(i));
    lengths.push_back(std::max(encoded[i].source.size(), encoded[i].target.size()));
  }
  std::vector<std::optional<double>> scores(examples.size());
  for (auto& batch : batches_by_length(lengths, rows)) {
    for (auto& row : batch) row = read[static_cast<size_t>(row)];
    const auto tensors = to_tensors(data::collate(encoded, batch), translator.model.device());
    const auto values =
        models::score(translator.model, tensors.source, tensors.target_in, tensors.target_out)
            .cpu();
    for (size_t i = 0; i < batch.size(); ++i) {
      const double score = values[static_cast<int64_t>(i)].item<double>();
      if (!std::isfinite(score))
        throw Diverged(fmt::format("line {}: the log-probability of its target is {}", batch[i] + 1,
                                   unsigned_nan(score)));
      scores[static_cast<size_t>(batch[i])] = score;
    }
  }
  return scores;
}

namespace {

/// The log of the mean probability of every class. // [B, C]
torch::Tensor class_scores(std::span<const Translator> translators, const torch::Tensor& source) {
  std::vector<torch::Tensor> votes;
  for (const auto& one : translators)
    votes.push_back(
        one.model.forward(source, source).squeeze(1).log_softmax(-1, torch::kFloat).cpu());
  if (votes.size() == 1) return votes.front();
  return torch::stack(votes).logsumexp(0) - std::log(static_cast<double>(votes.size()));
}

}  // namespace

std::vector<Translation> classify(std::span<const Translator> translators,
                                  const TranslationTask& task, int64_t rows) {
  const torch::NoGradGuard no_grad;
  const auto& first = translators.front();
  const auto number = [&](size_t line) { return task.first_line + static_cast<int64_t>(line) + 1; };
  std::vector<std::vector<int32_t>> sources;
  std::vector<size_t> lengths, line_of;
  for (size_t line = 0; line < task.lines.size(); ++line) {
    auto source = first.format.encode_source(task.lines[line], first.tokenizers);
    if (!source) continue;
    sources.push_back(std::move(source->ids));
    lengths.push_back(sources.back().size());
    for (const auto& one : translators)
      check_line(one.model.options(),
                 {.number = number(line), .tokens = std::ssize(sources.back())});
    line_of.push_back(line);
  }
  std::vector<Translation> results(task.lines.size());
  for (const auto& batch : batches_by_length(lengths, rows)) {
    const auto source = source_tensor(sources, batch, first.model.device());
    const auto [best, label] = class_scores(translators, source).max(-1);
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const auto line = line_of[static_cast<size_t>(batch[i])];
      if (!std::isfinite(best[row].item<double>()))
        throw Diverged(fmt::format("line {}: the log-probabilities of its classes are not finite",
                                   number(line)));
      const auto id = static_cast<int32_t>(label[row].item<int64_t>());
      results[line] = {.text = first.format.decode(std::vector{id}, first.tokenizers),
                       .score = best[row].item<double>()};
    }
  }
  return results;
}

}  // namespace ablate::training
