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
        throw Diverged(
            fmt::format("line {}: the log-probability of its target is {}", batch[i] + 1, score));
      scores[static_cast<size_t>(batch[i])] = score;
    }
  }
  return scores;
}

std::vector<Translation> classify(const Translator& translator, std::span<const std::string> lines,
                                  int64_t rows) {
  const torch::NoGradGuard no_grad;
  std::vector<std::vector<int32_t>> sources;
  std::vector<size_t> lengths, line_of;
  for (size_t line = 0; line < lines.size(); ++line) {
    auto source = translator.format.encode_source(lines[line], translator.tokenizers);
    if (!source) continue;
    sources.push_back(std::move(source->ids));
    lengths.push_back(sources.back().size());
    check_line(translator.model.options(),
               {.number = static_cast<int64_t>(line) + 1, .tokens = std::ssize(sources.back())});
    line_of.push_back(line);
  }
  std::vector<Translation> results(lines.size());
  for (const auto& batch : batches_by_length(lengths, rows)) {
    const auto source = source_tensor(sources, batch, translator.model.device());
    const auto logits = translator.model.forward(source, source).squeeze(1);  // [B, C]
    const auto [best, label] = logits.log_softmax(-1, torch::kFloat).cpu().max(-1);
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (!std::isfinite(best[row].item<double>()))
        throw Diverged(fmt::format("line {}: the log-probabilities of its classes are not finite",
                                   line_of[static_cast<size_t>(batch[i])] + 1));
      const auto id = static_cast<int32_t>(label[row].item<int64_t>());
      results[line_of[static_cast<size_t>(batch[i])]] = {
          .text = translator.format.decode(std::vector{id}, translator.tokenizers),
          .score = best[row].item<double>()};
    }
  }
  return results;
}

}  // namespace ablate::training
