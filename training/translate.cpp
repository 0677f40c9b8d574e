#include "training/translate.h"

#include <algorithm>
#include <numeric>

#include "data/batch.h"
#include "models/decode.h"
#include "tokenizer/special_ids.h"
#include "training/update.h"

namespace ablate::training {
namespace {

/// Indices of `lengths`, longest first, so that rows of a batch end together and the first batch
/// needs the most memory.
std::vector<int64_t> by_length(const std::vector<size_t>& lengths) {
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return lengths[static_cast<size_t>(a)] > lengths[static_cast<size_t>(b)];
  });
  return order;
}

models::SearchOptions search_options(const DecodingOptions& options) {
  return {.beam = options.beam,
          .length_penalty = options.length_penalty,
          .max_length = options.max_length,
          .max_ratio = options.max_ratio,
          .pad = tokenizer::kPad,
          .bos = tokenizer::kBos,
          .eos = tokenizer::kEos};
}

bool blank(const std::string& line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string::npos;
}

}  // namespace

data::EncodedSet encode_for(models::Family family, const data::Tokenizers& tokenizers,
                            std::span<const data::Example> pairs, int64_t max_length) {
  auto encoded = data::encode(pairs, tokenizers, max_length);
  return family == models::Family::decoder_only ? data::as_sequences(std::move(encoded)) : encoded;
}

std::vector<Translation> classify(Translator& translator, std::span<const std::string> lines,
                                  int64_t rows) {
  torch::NoGradGuard no_grad;
  std::vector<data::Example> examples;
  for (const auto& line : lines) examples.push_back({line, {}});
  auto encoded = data::encode_labelled(examples, translator.tokenizers, translator.max_length);
  std::vector<size_t> lengths;
  for (auto& example : encoded.examples) {
    example.target = {tokenizer::kEos};
    lengths.push_back(example.source.size());
  }
  const auto order = by_length(lengths);
  const auto device = translator.model->output_weight().device();
  std::vector<Translation> results(lines.size());
  for (size_t begin = 0; begin < order.size(); begin += static_cast<size_t>(rows)) {
    const auto part =
        std::span(order).subspan(begin, std::min(static_cast<size_t>(rows), order.size() - begin));
    const auto source = to_tensors(data::collate(encoded.examples, part), device).source;
    const auto logits = translator.model->forward(source, source).squeeze(1);  // [B, C]
    const auto [best, label] = logits.log_softmax(-1, torch::kFloat).cpu().max(-1);
    for (size_t row = 0; row < part.size(); ++row) {
      auto& result = results[static_cast<size_t>(part[row])];
      const auto at = static_cast<int64_t>(row);
      result.text = translator.tokenizers.target.decode(
          std::vector{static_cast<int32_t>(label[at].item<int64_t>())});
      result.score = best[at].item<double>();
    }
  }
  return results;
}

std::vector<Translation> translate(Translator& translator, std::span<const std::string> lines,
                                   const DecodingOptions& options) {
  if (translator.model->labels()) return classify(translator, lines, options.batch);
  std::vector<Translation> results(lines.size());
  std::vector<data::EncodedExample> examples;
  std::vector<size_t> line_of, lengths;
  for (size_t line = 0; line < lines.size(); ++line) {
    if (blank(lines[line])) continue;
    auto encoded = translator.tokenizers.source.encode(lines[line], translator.max_length - 1);
    results[line].cut = encoded.cut;
    encoded.ids.push_back(tokenizer::kEos);
    examples.push_back({std::move(encoded.ids), {tokenizer::kEos}});
    lengths.push_back(examples.back().source.size());
    line_of.push_back(line);
  }
  const auto order = by_length(lengths);
  const auto device = translator.model->output_weight().device();
  const auto rows = static_cast<size_t>(options.batch);
  for (size_t begin = 0; begin < order.size(); begin += rows) {
    const auto part = std::span(order).subspan(begin, std::min(rows, order.size() - begin));
    const auto source = to_tensors(data::collate(examples, part), device).source;
    const auto found = models::search(translator.model, source, search_options(options));
    for (size_t row = 0; row < part.size(); ++row) {
      const std::vector<int32_t> ids(found[row].ids.begin(), found[row].ids.end());
      auto& result = results[line_of[static_cast<size_t>(part[row])]];
      result.text = translator.tokenizers.target.decode(ids);
      result.score = found[row].score;
    }
  }
  return results;
}

std::vector<double> score_targets(Translator& translator, std::span<const data::Example> examples,
                                  int64_t batch) {
  const auto encoded =
      encode_for(translator.model->family(), translator.tokenizers, examples, translator.max_length)
          .examples;
  std::vector<size_t> lengths;
  for (const auto& example : encoded)
    lengths.push_back(std::max(example.source.size(), example.target.size()));
  const auto order = by_length(lengths);
  const auto device = translator.model->output_weight().device();
  std::vector<double> scores(examples.size());
  const auto rows = static_cast<size_t>(batch);
  for (size_t begin = 0; begin < order.size(); begin += rows) {
    const auto part = std::span(order).subspan(begin, std::min(rows, order.size() - begin));
    const auto tensors = to_tensors(data::collate(encoded, part), device);
    const auto values = models::score(translator.model, tensors.source, tensors.target_in,
                                      tensors.target_out, tokenizer::kPad)
                            .cpu();
    for (size_t row = 0; row < part.size(); ++row)
      scores[static_cast<size_t>(part[row])] = values[static_cast<int64_t>(row)].item<double>();
  }
  return scores;
}

}  // namespace ablate::training
