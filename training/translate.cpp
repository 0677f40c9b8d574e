#include "training/translate.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>

#include "data/batch.h"
#include "models/inference/search.h"
#include "tokenizer/special_ids.h"
#include "training/metrics/chrf.h"
#include "training/update.h"

namespace ablate::training {
namespace {

constexpr double kUnlimited = 1e9;

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

models::SpecialTokens special_tokens(const TranslationTask& task,
                                     const data::SequenceFormat& format) {
  return {.pad = tokenizer::kPad,
          .bos = tokenizer::kBos,
          .eos = format.end_token(task.one_line).value_or(models::kNoEnd),
          .start = format.start_token()};
}

models::SearchOptions search_options(models::SearchOptions options,
                                     const models::SpecialTokens& tokens) {
  if (tokens.eos == models::kNoEnd) options.max_ratio = kUnlimited;
  return options;
}

/// The sources of one batch. // [B, S]
torch::Tensor source_tensor(std::span<const std::vector<int32_t>> sources,
                            std::span<const int64_t> rows, torch::Device device) {
  auto batch = data::collate_sources(sources, rows);
  return torch::tensor(batch.ids, torch::kLong).view({batch.rows, batch.length}).to(device);
}

}  // namespace

std::vector<Translation> classify(Translator& translator, std::span<const std::string> lines,
                                  int64_t rows) {
  torch::NoGradGuard no_grad;
  std::vector<std::vector<int32_t>> sources;
  std::vector<size_t> lengths;
  for (const auto& line : lines) {
    sources.push_back(translator.format.encode_source(line, translator.tokenizers).value().ids);
    lengths.push_back(sources.back().size());
  }
  const auto order = by_length(lengths);
  const auto device = translator.model->output_weight().device();
  std::vector<Translation> results(lines.size());
  for (size_t begin = 0; begin < order.size(); begin += static_cast<size_t>(rows)) {
    const auto part =
        std::span(order).subspan(begin, std::min(static_cast<size_t>(rows), order.size() - begin));
    const auto source = source_tensor(sources, part, device);
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

namespace {

/// The lines that have anything to read, as ids.
struct Encoded {
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::vector<int64_t>> prefixes;  // empty: no line has one
  std::vector<size_t> line_of, lengths;
};

Encoded encoded(const Translator& translator, const TranslationTask& task,
                std::vector<std::vector<Translation>>& results) {
  Encoded all;
  for (size_t line = 0; line < task.lines.size(); ++line) {
    results[line].resize(1);
    auto source = translator.format.encode_source(task.lines[line], translator.tokenizers);
    if (!source) continue;
    results[line][0].cut = source->cut;
    all.lengths.push_back(source->ids.size());
    all.sources.push_back(std::move(source->ids));
    all.line_of.push_back(line);
    if (task.prefixes.empty()) continue;
    const auto prefix = translator.tokenizers.target.encode(task.prefixes[line]);
    all.prefixes.emplace_back(prefix.begin(), prefix.end());
  }
  return all;
}

std::vector<Translation> decoded(const Translator& translator,
                                 const std::vector<models::Hypothesis>& found, bool cut) {
  std::vector<Translation> texts;
  for (const auto& one : found) {
    const std::vector<int32_t> ids(one.ids.begin(), one.ids.end());
    texts.push_back({translator.format.decode(ids, translator.tokenizers), one.score,
                     one.log_probability, cut});
  }
  if (texts.empty()) texts.push_back({.cut = cut});
  return texts;
}

/// Calls `work(i)` for every i below `count`, on `jobs` threads; rethrows what one of them threw.
void in_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& work) {
  if (jobs <= 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    at::set_num_threads(1);
    for (size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = count;
      }
  };
  std::vector<std::thread> threads;
  for (int64_t job = 0; job < jobs; ++job) threads.emplace_back(run);
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

void check_alike(std::span<const Translator> translators) {
  for (const auto& one : translators)
    if (one.tokenizers.source.sha256() != translators.front().tokenizers.source.sha256() ||
        one.tokenizers.target.sha256() != translators.front().tokenizers.target.sha256() ||
        one.model->family() != translators.front().model->family())
      throw tokenizer::TokenizerError(
          "models that vote must have the same tokenizers and family; train them from one study");
}

}  // namespace

std::vector<std::vector<Translation>> translate_all(std::span<Translator> translators,
                                                    const TranslationTask& task,
                                                    const models::SearchOptions& options) {
  check_alike(translators);
  auto& first = translators.front();
  std::vector<std::vector<Translation>> results(task.lines.size());
  if (first.model->labels()) {
    auto classes = classify(first, task.lines, options.batch);
    for (size_t i = 0; i < classes.size(); ++i) results[i] = {std::move(classes[i])};
    return results;
  }
  const auto all = encoded(first, task, results);
  const auto order = by_length(all.lengths);
  const auto rows = static_cast<size_t>(options.batch);
  const auto tokens = special_tokens(task, first.format);
  std::vector<models::Transformer> models;
  for (const auto& one : translators) models.push_back(one.model);
  in_parallel((order.size() + rows - 1) / rows, task.jobs, [&](size_t batch) {
    const auto part =
        std::span(order).subspan(batch * rows, std::min(rows, order.size() - batch * rows));
    auto voters = models;
    std::vector<int64_t> numbers;
    std::vector<std::vector<int64_t>> prefixes;
    for (const auto row : part) {
      const auto at = static_cast<size_t>(row);
      numbers.push_back(task.first_line + static_cast<int64_t>(all.line_of[at]));
      if (!all.prefixes.empty()) prefixes.push_back(all.prefixes[at]);
    }
    const auto source = source_tensor(all.sources, part, first.model->output_weight().device());
    const auto found = models::search_all(voters,
                                          {.source = source,
                                           .tokens = tokens,
                                           .n_best = task.n_best,
                                           .prefixes = prefixes,
                                           .numbers = numbers},
                                          search_options(options, tokens));
    for (size_t row = 0; row < part.size(); ++row) {
      auto& result = results[all.line_of[static_cast<size_t>(part[row])]];
      result = decoded(first, found[row], result[0].cut);
    }
  });
  return results;
}

std::vector<Translation> translate(Translator& translator, std::span<const std::string> lines,
                                   const models::SearchOptions& options) {
  std::vector<Translation> best;
  for (auto& found : translate_all({&translator, 1}, {.lines = lines}, options))
    best.push_back(std::move(found.front()));
  return best;
}

size_t least_risk(std::span<const Translation> candidates) {
  std::vector<double> gains(candidates.size(), 0);
  for (size_t i = 0; i < candidates.size(); ++i)
    for (const auto& other : candidates)
      gains[i] += chrf(chrf_statistics(candidates[i].text, other.text)).score;
  return static_cast<size_t>(std::ranges::max_element(gains) - gains.begin());
}

std::vector<double> score_targets(Translator& translator, std::span<const data::Example> examples,
                                  int64_t batch) {
  const auto encoded = translator.format.encode_each(examples, translator.tokenizers).examples;
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
