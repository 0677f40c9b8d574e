#include "data/sequence_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "data/augmentation.h"
#include "data/text_file.h"
#include "data/token_file.h"
#include "tokenizer/model_trainer.h"

namespace ablate::data {
namespace {

constexpr int64_t kMostEvaluated = 100'000'000;  // they are held in memory
constexpr int64_t kWhole = std::numeric_limits<int64_t>::max();
constexpr int64_t kDraws = 8;  // of the hidden tokens of a block, in the bound of masked diffusion

std::vector<EncodedExample> repeated(std::vector<EncodedExample> examples, int64_t times) {
  const auto once = examples.size();
  examples.reserve(once * static_cast<size_t>(times));
  for (int64_t i = 1; i < times; ++i)
    std::copy_n(examples.begin(), once, std::back_inserter(examples));
  return examples;
}

/// Returns at most `max_length` of a text's ids, those around it included; of no ids the end token.
tokenizer::Encoded framed(std::vector<int32_t> ids, const tokenizer::Framing& framing,
                          int64_t max_length) {
  const int64_t around = (framing.start ? 1 : 0) + (framing.end ? 1 : 0);
  auto side = tokenizer::limited(std::move(ids), max_length - around);
  if (framing.start) side.ids.insert(side.ids.begin(), kStartToken);
  if (framing.end || side.ids.empty()) side.ids.push_back(tokenizer::kEos);
  return side;
}

constexpr tokenizer::Framing kClosed{.start = false, .end = true};

/// The source before the target, as one sequence of which only the target is predicted.
EncodedExample joined(EncodedExample pair) {
  EncodedExample one{.prompt_length = std::ssize(pair.source), .started = pair.started};
  one.target = std::move(pair.source);
  one.target.insert(one.target.end(), pair.target.begin(), pair.target.end());
  return one;
}

}  // namespace

tokenizer::Framing SequenceFormat::source_framing(
    const std::optional<tokenizer::Framing>& own) const {
  if (!model_.encoder) return kClosed;  // the target follows it
  return own.value_or(model_.decoder ? kClosed : tokenizer::Framing{});
}

bool SequenceFormat::is_started(const std::optional<tokenizer::Framing>& own) const {
  return (model_.encoder && model_.decoder) || own.value_or(tokenizer::Framing{}).start;
}

std::vector<int32_t> SequenceFormat::with_ends(std::vector<int32_t> ids) const {
  if (tokens_ && tokens_->end_token)
    std::ranges::replace(ids, tokenizer::kFirstNumber + static_cast<int32_t>(*tokens_->end_token),
                         tokenizer::kEos);
  return ids;
}

std::vector<int32_t> SequenceFormat::source_ids(std::string_view text, const TextEncoder& encoder,
                                                size_t index) const {
  if (!pairs_) return with_ends(encoder(index, text));
  std::vector<int32_t> ids;
  for (const auto part : texts_of_pair(text)) {
    if (!ids.empty()) ids.push_back(tokenizer::kEos);
    const auto more = encoder(index, part);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

std::optional<int32_t> SequenceFormat::start_token(const Tokenizers& tokenizers) const {
  if (!is_started(tokenizers.source.framing())) return {};
  return kStartToken;
}

Chunking SequenceFormat::chunking_of(const Tokenizers& tokenizers) const {
  auto chunking = *chunking_;
  chunking.started = is_started(tokenizers.source.framing());
  return chunking;
}

Tokenizers SequenceFormat::tokenizers(const tokenizer::TokenizerOptions& options,
                                      std::span<const Example> train,
                                      const std::optional<Tokenizers>& start) const {
  if (!labels_)
    return start ? Tokenizers{start->source, start->target} : train_tokenizers(options, train);
  if (!start) return train_tokenizers_of_labelled(options, train);
  Labels labels(train);
  if (start->labels && start->labels->same_names(labels)) labels = *start->labels;
  return {start->source, start->source, std::move(labels)};
}

EncodedSet SequenceFormat::encode_for_training(std::span<const Example> examples,
                                               const TextEncoders& encoders) const {
  if (!chunking_) return encode_each(examples, encoders, max_length_);
  return {.examples = {{.target = concatenate(examples, encoders.target), .prompt_length = 1}}};
}

EncodedSet SequenceFormat::encode_for_training(std::span<const Example> examples,
                                               const Tokenizers& tokenizers) const {
  if (tokens_) return {.examples = {}, .text = text_of(examples.front(), tokenizers)};
  return encode_for_training(examples, encoders_of(tokenizers));
}

FileText SequenceFormat::text_of(const Example& example, const Tokenizers& tokenizers) const {
  std::vector<int32_t> ids;
  if (tokens_->vocabulary) {
    ids.resize(static_cast<size_t>(*tokens_->vocabulary));
    std::iota(ids.begin(), ids.end(), tokenizer::kFirstNumber);
    if (tokens_->end_token) ids[static_cast<size_t>(*tokens_->end_token)] = tokenizer::kEos;
    return {example.tokens, std::move(ids)};
  }
  constexpr int32_t kNone = -1;
  const auto& known = tokenizers.target.ids();
  for (int32_t own = 0; own < known.size(); ++own) {
    const auto theirs = known.theirs(own);
    if (!theirs) continue;
    const auto place = static_cast<size_t>(*theirs);
    ids.resize(std::max(ids.size(), place + 1), kNone);
    ids[place] = known.ours(*theirs) == tokenizer::kPad ? kNone : known.ours(*theirs);
  }
  return {example.tokens, std::move(ids)};
}

EncodedSet SequenceFormat::encode(std::span<const Example> examples,
                                  const Tokenizers& tokenizers) const {
  if (tokens_) {
    const auto text = text_of(examples.front(), tokenizers);
    const auto count = std::min(text.size(), tokens_->evaluated_tokens.value_or(text.size()));
    if (count > kMostEvaluated)
      throw DataError(fmt::format(
          "{} has {} tokens, and at most {} are scored; give data.evaluated_tokens a number",
          examples.front().tokens->path().string(), count, kMostEvaluated));
    return {.examples = chunk(text.read(0, count), chunking_of(tokenizers))};
  }
  const auto encoders = encoders_of(tokenizers);
  if (chunking_)
    return {.examples =
                repeated(chunk(concatenate(examples, encoders.target), chunking_of(tokenizers)),
                         fills_masks() ? kDraws : 1)};
  return encode_each(examples, encoders, kWhole);
}

EncodedSet SequenceFormat::encode_each(std::span<const Example> examples,
                                       const Tokenizers& tokenizers) const {
  return encode_each(examples, encoders_of(tokenizers), kWhole);
}

EncodedSet SequenceFormat::encode_each(std::span<const Example> examples,
                                       const TextEncoders& encoders, int64_t max_length) const {
  EncodedSet set;
  set.examples.reserve(examples.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    auto source = framed(source_ids(examples[i].source, encoders.source, i),
                         source_framing(encoders.framing), max_length);
    auto target_ids = with_ends(encoders.target(i, examples[i].target));
    auto target = labels_ ? tokenizer::Encoded{.ids = std::move(target_ids)}
                          : framed(std::move(target_ids), kClosed, max_length);
    set.cut_sources += source.cut ? 1 : 0;
    set.cut_targets += target.cut ? 1 : 0;
    EncodedExample pair{.source = std::move(source.ids),
                        .target = std::move(target.ids),
                        .started = model_.encoder || is_started(encoders.framing)};
    set.examples.push_back(model_.encoder ? std::move(pair) : joined(std::move(pair)));
  }
  return set;
}

tokenizer::Encoded SequenceFormat::prompt(std::string_view text,
                                          const tokenizer::Tokenizer& tokenizer) const {
  tokenizer::Encoded all;
  for (size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto line = with_ends(tokenizer.encode(text.substr(begin, end - begin)));
    if (tokens_ && tokens_->vocabulary && std::ranges::find(line, tokenizer::kUnk) != line.end())
      throw DataError(fmt::format(
          "the prompt '{}' holds what is no id: this model reads numbers below {}, with spaces "
          "between them (data.vocabulary)",
          text, *tokens_->vocabulary));
    all.ids.insert(all.ids.end(), line.begin(), line.end());
    if (end < text.size()) all.ids.push_back(tokenizer::kEos);
    begin = end + 1;
  }
  const auto end = std::ranges::find(all.ids.rbegin(), all.ids.rend(), tokenizer::kEos);
  if (tokens_ && tokens_->mask_documents && end != all.ids.rend())
    all.ids.erase(all.ids.begin(), end.base() - 1);
  const auto surplus = std::ssize(all.ids) - longest_prompt();
  all.cut = surplus > 0;
  if (all.cut) all.ids.erase(all.ids.begin(), all.ids.begin() + surplus);
  if (all.ids.empty()) all.ids.push_back(tokenizer::kEos);  // a new text follows the one before
  return all;
}

std::optional<tokenizer::Encoded> SequenceFormat::encode_source(
    std::string_view text, const Tokenizers& tokenizers) const {
  if (continues_text() || fills_masks()) return prompt(text, tokenizers.source);
  auto ids = source_ids(text, encoders_of(tokenizers).source, 0);
  if (!chunking_ && (ids.empty() || blank(text))) return {};
  return framed(std::move(ids), source_framing(tokenizers.source.framing()), kWhole);
}

std::string SequenceFormat::decode(std::span<const int32_t> ids,
                                   const Tokenizers& tokenizers) const {
  if (labels_) return tokenizers.labels.value().name(ids.front());
  std::string text;
  for (;;) {
    const auto end = std::ranges::find(ids, tokenizer::kEos);
    text += tokenizers.target.decode({ids.begin(), end});
    if (end == ids.end()) return text;
    text += '\n';
    ids = {end + 1, ids.end()};
  }
}

std::string SequenceFormat::continuation(std::string_view text, std::span<const int32_t> source,
                                         std::span<const int32_t> ids,
                                         const Tokenizers& tokenizers) const {
  if (!continues_text() && !fills_masks()) return decode(ids, tokenizers);
  // A number may be the end token, and then no line end divides it from the output.
  if (tokens_ && tokens_->end_token && source.back() == tokenizer::kEos && !text.empty() &&
      text.back() != '\n' && text.back() != ' ')
    return ' ' + decode(ids, tokenizers);
  const auto end = std::ranges::find(source.rbegin(), source.rend(), tokenizer::kEos);
  std::vector<int32_t> line(end.base(), source.end());
  const auto before = decode(line, tokenizers);
  line.insert(line.end(), ids.begin(), ids.end());
  auto all = decode(line, tokenizers);
  if (!all.starts_with(before)) return decode(ids, tokenizers);
  all.erase(0, before.size());
  // A space at the end of the text, which the tokenizer may leave out, is not written twice.
  if (text.ends_with(' ') && !before.ends_with(' ') && all.starts_with(' ')) all.erase(0, 1);
  return all;
}

std::optional<int32_t> SequenceFormat::end_token(bool one_line) const {
  const bool one_document = one_line || (tokens_ && tokens_->mask_documents);
  if (continues_text() && !one_document) return {};
  return tokenizer::kEos;
}

std::vector<int64_t> SequenceFormat::unwritten() const {
  if (!tokens_ || !tokens_->vocabulary) return {};
  std::vector<int64_t> ids{tokenizer::kUnk};
  if (tokens_->end_token) ids.push_back(tokenizer::kFirstNumber + *tokens_->end_token);
  return ids;
}

bool SequenceFormat::reads_alike(const SequenceFormat& other) const {
  return pairs_ == other.pairs_ && continues_text() == other.continues_text() &&
         fills_masks() == other.fills_masks() && unwritten() == other.unwritten() &&
         end_token(/*one_line=*/false) == other.end_token(/*one_line=*/false);
}

Compared SequenceFormat::compared() const {
  if (labels_) return Compared::label;
  if (tokens_) return Compared::tokens;
  return chunking_ ? Compared::nothing : Compared::text;
}

Augmentation SequenceFormat::augmentation(const Tokenizers& tokenizers,
                                          const std::optional<FileText>& text) const {
  Augmentation made{.masking = masking(tokenizers)};
  if (!chunking_) return made;
  made.chunking = chunking_of(tokenizers);
  made.chunking->text = text;
  return made;
}

std::optional<Masking> SequenceFormat::masking(const Tokenizers& tokenizers) const {
  if (!chunking_ || !chunking_->masked) return {};
  const auto& read = tokenizers.source;
  if (read.vocabulary_size() <= tokenizer::kMask ||
      read.token(tokenizer::kMask) != tokenizer::kMaskToken)
    throw tokenizer::TokenizerError(
        "the tokenizer has no mask token, which data.masked puts in place of hidden ones; that of "
        "an imported model is named by mask_token in the folder's tokenizer_config.json");
  auto masking = masking_;
  masking.vocabulary = tokenizers.source.vocabulary_size();
  return masking;
}

}  // namespace ablate::data
