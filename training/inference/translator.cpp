#include "training/inference/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/text_file.h"
#include "models/inference/search.h"
#include "tokenizer/special_tokens.h"
#include "training/inference/length_check.h"
#include "training/metrics/chrf.h"
#include "training/storage/errors.h"

namespace ablate::training {
namespace {

constexpr double kUnlimited = 1e9;

models::SpecialTokens special_tokens(const TranslationTask& task, const Translator& translator) {
  return {.pad = tokenizer::kPad,
          .bos = tokenizer::kBos,
          .eos = translator.format.end_token(task.one_line).value_or(models::kNoEnd),
          .start = translator.format.start_token(translator.tokenizers)};
}

/// The lines that have anything to read, as ids.
struct EncodedLines {
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::vector<int64_t>> prefixes;  // empty: no line has one
  std::vector<size_t> lengths, line_of;
  std::vector<std::optional<std::string>> read;  // of sources of which only the end was

  void add(size_t line, tokenizer::Encoded source, const Translator& translator) {
    read.emplace_back();
    if (source.cut) read.back() = translator.format.decode(source.ids, translator.tokenizers);
    lengths.push_back(source.ids.size());
    sources.push_back(std::move(source.ids));
    line_of.push_back(line);
  }
};

/// Outputs that do not end by themselves are bounded only by their greatest length.
models::SearchOptions options_for(const TranslationTask& task, const data::SequenceFormat& format,
                                  models::SearchOptions options) {
  if (!format.end_token(task.one_line)) options.max_ratio = kUnlimited;
  return options;
}

/// Throws LengthError if a line or its output exceeds a model's positions.
EncodedLines encode_lines(std::span<const Translator> translators, const TranslationTask& task,
                          const models::SearchOptions& options) {
  const auto& translator = translators.front();
  const bool classifies = translator.model.labels();
  const bool started = translator.format.start_token(translator.tokenizers).has_value();
  EncodedLines all;
  for (size_t line = 0; line < task.lines.size(); ++line) {
    auto source = translator.format.encode_source(task.lines[line], translator.tokenizers);
    if (!source) continue;
    LineLengths lengths{.number = task.first_line + static_cast<int64_t>(line) + 1,
                        .tokens = std::ssize(source->ids),
                        .output = classifies ? 0 : options.longest_output(std::ssize(source->ids)),
                        .started = started};
    if (!task.prefixes.empty()) {
      const auto prefix = translator.tokenizers.target.encode(task.prefixes[line]);
      lengths.prefix = std::ssize(prefix);
      lengths.output = std::max(lengths.output, lengths.prefix + 1);
      all.prefixes.emplace_back(prefix.begin(), prefix.end());
    }
    for (const auto& one : translators) check_line(one.model.options(), lengths);
    all.add(line, std::move(*source), translator);
  }
  return all;
}

std::vector<Translation> to_translations(const Translator& translator, std::string_view line,
                                         std::span<const int32_t> source,
                                         std::span<const models::Hypothesis> found,
                                         const std::optional<std::string>& read) {
  std::vector<Translation> texts;
  for (const auto& one : found) {
    const std::vector<int32_t> ids(one.ids.begin(), one.ids.end());
    texts.push_back({translator.format.continuation(read ? std::string_view(*read) : line, source,
                                                    ids, translator.tokenizers),
                     one.score, one.log_probability, one.ended, read});
  }
  if (texts.empty()) texts.push_back({.read = read});
  return texts;
}

/// Throws TokenizerError if one of them would read the first one's input otherwise.
void check_alike(std::span<const Translator> translators) {
  const auto& first = translators.front();
  for (const auto& one : translators) {
    if (one.tokenizers.source.sha256() != first.tokenizers.source.sha256() ||
        one.tokenizers.target.sha256() != first.tokenizers.target.sha256() ||
        one.tokenizers.labels != first.tokenizers.labels ||
        one.model.family() != first.model.family())
      throw tokenizer::TokenizerError(
          "models that vote must have the same tokenizers, family and classes, these in one order; "
          "train them from one study");
    if (!one.format.reads_alike(first.format))
      throw tokenizer::TokenizerError(
          "models that vote must read texts and end outputs alike (data.task, data.end_token, "
          "data.mask_documents, data.columns.text_pair); train them from one study");
  }
}

/// Searches for the outputs of one batch.
class BatchSearch {
 public:
  BatchSearch(std::span<const Translator> translators, const TranslationTask& task,
              const models::SearchOptions& options)
      : task_(task),
        tokens_(special_tokens(task, translators.front())),
        unwritten_(translators.front().format.unwritten()),
        options_(options) {
    for (const auto& one : translators) models_.push_back(one.model);
  }

  std::vector<std::vector<models::Hypothesis>> operator()(const EncodedLines& lines,
                                                          std::span<const int64_t> rows) const {
    std::vector<int64_t> numbers;
    std::vector<std::vector<int64_t>> prefixes;
    for (const auto row : rows) {
      const auto at = static_cast<size_t>(row);
      numbers.push_back(task_.first_line + static_cast<int64_t>(lines.line_of[at]));
      if (!lines.prefixes.empty()) prefixes.push_back(lines.prefixes[at]);
    }
    return models::search_all(
        models_,
        {.source = source_tensor(lines.sources, rows, models_.front().device()),
         .tokens = tokens_,
         .n_best = task_.n_best,
         .prefixes = prefixes,
         .unwritten = unwritten_,
         .numbers = numbers,
         .count = task_.count},
        options_);
  }

 private:
  const TranslationTask& task_;
  models::SpecialTokens tokens_;
  std::vector<int64_t> unwritten_;
  const models::SearchOptions& options_;
  std::vector<models::InferenceModel> models_;
};

/// The log of the mean probability of every class. // [B, C]
torch::Tensor class_scores(std::span<const Translator> translators, const torch::Tensor& source) {
  std::vector<torch::Tensor> votes;
  for (const auto& one : translators)
    votes.push_back(
        one.model.forward(source, source).squeeze(1).log_softmax(-1, torch::kFloat).cpu());
  if (votes.size() == 1) return votes.front();
  return torch::stack(votes).logsumexp(0) - std::log(static_cast<double>(votes.size()));
}

/// The likeliest class of every row of one batch.
std::vector<Translation> classify(std::span<const Translator> translators,
                                  const TranslationTask& task, const EncodedLines& lines,
                                  std::span<const int64_t> rows) {
  const torch::NoGradGuard no_grad;
  const auto& first = translators.front();
  const auto source = source_tensor(lines.sources, rows, first.model.device());
  const auto [best, label] = class_scores(translators, source).max(-1);
  std::vector<Translation> classes;
  for (const auto row : rows) {
    const auto i = std::ssize(classes);
    const auto score = best[i].item<double>();
    if (!std::isfinite(score))
      throw Diverged(fmt::format(
          "line {}: the log-probabilities of its classes are not finite",
          task.first_line + static_cast<int64_t>(lines.line_of[static_cast<size_t>(row)]) + 1));
    const std::vector ids{static_cast<int32_t>(label[i].item<int64_t>())};
    classes.push_back({.text = first.format.decode(ids, first.tokenizers), .score = score});
  }
  return classes;
}

}  // namespace

std::vector<std::vector<Translation>> translate_all(std::span<const Translator> translators,
                                                    const TranslationTask& task,
                                                    const models::SearchOptions& given) {
  check_alike(translators);
  const auto& first = translators.front();
  const auto options = options_for(task, first.format, given);
  std::vector<std::vector<Translation>> results(task.lines.size(), {Translation{}});
  const auto lines = encode_lines(translators, task, options);
  const auto batches = batches_by_length(lines.lengths, options.batch);
  if (first.model.labels()) {
    for (const auto& batch : batches) {
      const auto classes = classify(translators, task, lines, batch);
      for (size_t i = 0; i < classes.size(); ++i)
        results[lines.line_of[static_cast<size_t>(batch[i])]] = {classes[i]};
    }
    return results;
  }
  const BatchSearch search(translators, task, options);
  in_parallel(batches.size(), task.jobs, [&](size_t batch) {
    const auto found = search(lines, batches[batch]);
    for (size_t i = 0; i < found.size(); ++i) {
      const auto row = static_cast<size_t>(batches[batch][i]);
      const auto line = lines.line_of[row];
      auto& result = results[line];
      result =
          to_translations(first, task.lines[line], lines.sources[row], found[i], lines.read[row]);
      if (task.one_line)
        for (auto& one : result) one.text = data::one_line(std::move(one.text));
    }
  });
  return results;
}

std::vector<Translation> translate(const Translator& translator, std::span<const std::string> lines,
                                   const models::SearchOptions& options,
                                   models::SearchCount* count) {
  std::vector<Translation> best;
  for (auto& found : translate_all({&translator, 1}, {.lines = lines, .count = count}, options))
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

}  // namespace ablate::training
