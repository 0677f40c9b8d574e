#include "training/inference/classify.h"

#include <fmt/format.h>

#include <cmath>

#include "training/diverged.h"
#include "training/inference/length_batches.h"
#include "training/inference/length_check.h"

namespace ablate::training {

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
