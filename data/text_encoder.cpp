#include "data/text_encoder.h"

#include <fmt/format.h>

#include "data/random.h"

namespace ablate::data {
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

/// Uniform in [0, 1).
double fraction(Random& random) { return static_cast<double>(random.next() >> 11U) * 0x1p-53; }

}  // namespace

TextEncoders encoders_of(const Tokenizers& tokenizers) {
  return {.source = plain(tokenizers.source),
          .target = tokenizers.labels ? numbered(*tokenizers.labels) : plain(tokenizers.target)};
}

DroppedMerges::DroppedMerges(const Tokenizers& tokenizers, Options options)
    : options_(options), tokenizers_(tokenizers), source_(tokenizers.source) {
  if (!tokenizers.labels) target_.emplace(tokenizers.target);
}

TextEncoders DroppedMerges::encoders(int64_t epoch) const {
  const auto name = "dropped merges of epoch " + std::to_string(epoch);
  return {.source = side(source_, name + ", source"),
          .target = target_ ? side(*target_, name + ", target") : numbered(*tokenizers_.labels)};
}

TextEncoder DroppedMerges::side(const tokenizer::BpeSampler& sampler,
                                const std::string& purpose) const {
  return [&sampler, purpose, options = options_](size_t index, std::string_view text) {
    Random random(options.seed, purpose, index);
    return sampler.encode(text, [&] { return fraction(random) < options.share; });
  };
}

}  // namespace ablate::data
