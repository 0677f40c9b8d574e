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

std::vector<Translation> translate(Translator& translator, std::span<const std::string> lines,
                                   const DecodingOptions& options) {
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
      data::encode(examples, translator.tokenizers, translator.max_length).examples;
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
