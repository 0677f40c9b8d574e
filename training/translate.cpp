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

models::SpecialTokens special_tokens(const TranslationTask& task) {
  return {.pad = tokenizer::kPad,
          .bos = tokenizer::kBos,
          .eos = task.running ? models::kNoEnd : tokenizer::kEos,
          .start = tokenizer::kBos};
}

models::SearchOptions search_options(models::SearchOptions options, const TranslationTask& task) {
  if (task.running) options.max_ratio = kUnlimited;
  return options;
}

bool blank(const std::string& line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string::npos;
}

}  // namespace

int64_t start_mark(bool prompts) { return prompts ? tokenizer::kEos : tokenizer::kBos; }

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

namespace {

/// The lines that are not blank, as ids.
struct Encoded {
  std::vector<data::EncodedExample> examples;
  std::vector<std::vector<int64_t>> prefixes;  // empty: no line has one
  std::vector<size_t> line_of, lengths;
};

/// Ids of a text, each of whose lines but the last is closed by an end mark, as in running text.
std::vector<int32_t> encoded_lines(const Translator& translator, const std::string& text) {
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = translator.tokenizers.source.encode(text.substr(begin, end - begin));
    ids.insert(ids.end(), line.begin(), line.end());
    if (end < text.size()) ids.push_back(tokenizer::kEos);
    begin = end + 1;
  }
  return ids;
}

/// The text of ids, an end mark being the end of a line.
std::string decoded_lines(const Translator& translator, const std::vector<int32_t>& ids) {
  std::string text;
  for (auto begin = ids.begin();;) {
    const auto end = std::find(begin, ids.end(), tokenizer::kEos);
    text += translator.tokenizers.target.decode(std::vector(begin, end));
    if (end == ids.end()) return text;
    text += '\n';
    begin = end + 1;
  }
}

Encoded encoded(const Translator& translator, const TranslationTask& task,
                std::vector<std::vector<Translation>>& results) {
  Encoded all;
  for (size_t line = 0; line < task.lines.size(); ++line) {
    results[line].resize(1);
    // Where prompts go on, a blank one is the beginning of a new text.
    if (blank(task.lines[line]) && !translator.prompts) continue;
    auto ids = encoded_lines(translator, task.lines[line]);
    const auto most = static_cast<size_t>(translator.max_length - 1);
    results[line][0].cut = ids.size() > most;
    ids.resize(std::min(ids.size(), most));
    if (!translator.prompts || ids.empty()) ids.push_back(tokenizer::kEos);
    all.lengths.push_back(ids.size());
    all.examples.push_back({std::move(ids), {tokenizer::kEos}});
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
    texts.push_back({decoded_lines(translator, ids), one.score, one.log_probability, cut});
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
    const auto source =
        to_tensors(data::collate(all.examples, part), first.model->output_weight().device()).source;
    const auto found = models::search_all(voters,
                                          {.source = source,
                                           .tokens = special_tokens(task),
                                           .n_best = task.n_best,
                                           .prefixes = prefixes,
                                           .numbers = numbers},
                                          search_options(options, task));
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
