#include "data/text_encoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "data/random.h"
#include "data/text_file.h"

namespace ablate::data {

Labels::Labels(std::span<const Example> examples) {
  std::set<std::string> names;
  for (const auto& example : examples) names.insert(example.target);
  for (const auto& name : names) add(name);
}

Labels Labels::from_text(std::string_view text) {
  Labels labels;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto name = text.substr(0, end);
    if (name.ends_with('\r')) name.remove_suffix(1);
    labels.add(std::string(name));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return labels;
}

void Labels::add(std::string name) {
  if (name.empty()) throw DataError("a class has no name");
  if (!numbers_.emplace(name, static_cast<int32_t>(names_.size())).second)
    throw DataError(fmt::format("the class '{}' is named twice", name));
  names_.push_back(std::move(name));
}

std::string Labels::to_text() const { return fmt::format("{}\n", fmt::join(names_, "\n")); }

bool Labels::same_names(const Labels& other) const {
  const auto name = [](const auto& entry) -> const std::string& { return entry.first; };
  return std::ranges::equal(numbers_, other.numbers_, {}, name, name);
}

int32_t Labels::number(std::string_view name) const {
  constexpr size_t kMostNames = 10;
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  const std::span all(names_);
  throw DataError(fmt::format("'{}' is not one of the {} classes {}{}", name, names_.size(),
                              fmt::join(all.first(std::min(kMostNames, all.size())), ", "),
                              all.size() > kMostNames ? ", ..." : ""));
}

Tokenizers train_tokenizers(const tokenizer::TokenizerOptions& options,
                            std::span<const Example> train) {
  std::vector<std::string> sources, targets;
  for (const auto& example : train) {
    sources.push_back(example.source);
    (options.joint ? sources : targets).push_back(example.target);
  }
  const auto source = tokenizer::Tokenizer::train(options, sources);
  return {source, options.joint ? source : tokenizer::Tokenizer::train(options, targets)};
}

Tokenizers train_tokenizers_of_labelled(const tokenizer::TokenizerOptions& options,
                                        std::span<const Example> train) {
  std::vector<std::string> texts;
  for (const auto& example : train) texts.push_back(example.source);
  const auto joint = tokenizer::Tokenizer::train(options, texts);
  return {joint, joint, Labels(train)};
}

namespace {

TextEncoder plain(const tokenizer::Tokenizer& tokenizer) {
  return [&tokenizer](size_t, std::string_view text) { return tokenizer.encode(text); };
}

/// The number of a class.
TextEncoder numbered(const Labels& labels) {
  return [&labels](size_t index, std::string_view name) {
    try {
      return std::vector{labels.number(name)};
    } catch (const DataError& error) {
      throw DataError(fmt::format("example {}: {}", index + 1, error.what()));
    }
  };
}

}  // namespace

TextEncoders encoders_of(const Tokenizers& tokenizers) {
  return {.source = plain(tokenizers.source),
          .target = tokenizers.labels ? numbered(*tokenizers.labels) : plain(tokenizers.target),
          .framing = tokenizers.source.framing()};
}

DroppedMerges::DroppedMerges(const Tokenizers& tokenizers, Options options)
    : options_(options), tokenizers_(tokenizers), source_(tokenizers.source) {
  if (!tokenizers.labels) target_.emplace(tokenizers.target);
}

TextEncoders DroppedMerges::encoders(int64_t epoch) const {
  const auto name = "dropped merges of epoch " + std::to_string(epoch);
  return {.source = side(source_, name + ", source"),
          .target = target_ ? side(*target_, name + ", target") : numbered(*tokenizers_.labels),
          .framing = tokenizers_.source.framing()};
}

TextEncoder DroppedMerges::side(const tokenizer::BpeSampler& sampler,
                                const std::string& purpose) const {
  return [&sampler, purpose, options = options_](size_t index, std::string_view text) {
    Random random(options.seed, purpose, index);
    return sampler.encode(text, [&] { return random.uniform() < options.share; });
  };
}

}  // namespace ablate::data
