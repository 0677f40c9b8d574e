#include "training/inference/fill_in.h"

#include <algorithm>
#include <limits>

#include "data/random.h"
#include "models/inference/sampling.h"
#include "tokenizer/special_tokens.h"

namespace ablate::training {
namespace {

/// A token for a place, and its log-probability.
struct Choice {
  size_t place;
  int32_t token;
  double log_probability;
};

class Filling {
 public:
  Filling(const models::InferenceModel& model, const FillOptions& options, uint64_t line)
      : model_(model), options_(options) {
    const auto* sampling = std::get_if<models::RandomSampling>(&options.sampling);
    if (sampling != nullptr)
      random_.emplace(static_cast<uint64_t>(sampling->random_seed), "fill in", line);
  }

  /// Replaces the masks in `ids`. Returns the sum of the log-probabilities of their tokens.
  double fill(std::vector<int32_t>& ids) {
    const auto masks = std::ranges::count(ids, tokenizer::kMask);
    const auto passes = std::min(options_.passes.value_or(masks), masks);
    double sum = 0;
    for (int64_t pass = 0, left = masks; pass < passes; ++pass) {
      const auto count = (left + passes - pass - 1) / (passes - pass);
      for (const auto& choice : chosen(ids, count)) {
        ids[choice.place] = choice.token;
        sum += choice.log_probability;
      }
      left -= count;
    }
    return sum;
  }

 private:
  /// The tokens of the next `count` masks.
  std::vector<Choice> chosen(const std::vector<int32_t>& ids, int64_t count) {
    std::vector<size_t> places;
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] == tokenizer::kMask) places.push_back(i);
    if (random_) {
      random_->shuffle(places);
      places.resize(static_cast<size_t>(count));
    }
    const auto scores = log_probabilities(ids);
    std::vector<Choice> choices;
    for (const auto place : places) choices.push_back(choice_at(place, scores));
    std::ranges::stable_sort(choices, std::ranges::greater(), &Choice::log_probability);
    choices.resize(static_cast<size_t>(count));
    return choices;
  }

  /// Of every place, without tokens that texts do not hold. // [T, V]
  torch::Tensor log_probabilities(const std::vector<int32_t>& ids) const {
    const auto row = torch::tensor(std::vector<int64_t>(ids.begin(), ids.end()), torch::kLong)
                         .unsqueeze(0)
                         .to(model_.device());
    auto logits = model_.forward(row, row)[0].to(torch::kDouble).cpu();
    for (const auto id : {tokenizer::kPad, tokenizer::kBos, tokenizer::kUnk, tokenizer::kMask})
      logits.select(1, id).fill_(-std::numeric_limits<double>::infinity());
    return logits.log_softmax(-1).contiguous();
  }

  Choice choice_at(size_t place, const torch::Tensor& scores) {
    const std::span row(
        scores.const_data_ptr<double>() + static_cast<int64_t>(place) * scores.size(1),
        static_cast<size_t>(scores.size(1)));
    const auto token =
        random_ ? models::sample_token(row, std::get<models::RandomSampling>(options_.sampling),
                                       random_->uniform())
                : std::ranges::max_element(row) - row.begin();
    return {place, static_cast<int32_t>(token), row[static_cast<size_t>(token)]};
  }

  const models::InferenceModel& model_;
  const FillOptions& options_;
  std::optional<data::Random> random_;  // of sampling
};

}  // namespace

std::vector<std::vector<Translation>> fill_in(const Translator& translator,
                                              std::span<const std::string> prompts,
                                              const FillOptions& options) {
  const auto longest = translator.format.filled_length();
  std::vector<std::vector<Translation>> results;
  for (size_t line = 0; line < prompts.size(); ++line) {
    const auto [prompt, cut] =
        *translator.format.encode_source(prompts[line], translator.tokenizers);
    Translation result{.ended = false};
    if (cut) result.read = translator.format.decode(prompt, translator.tokenizers);
    auto ids = prompt;
    if (const auto start = translator.format.start_token(translator.tokenizers))
      ids.insert(ids.begin(), *start);
    const auto begin = std::ssize(ids);
    ids.resize(static_cast<size_t>(std::min(longest, begin + options.length)), tokenizer::kMask);
    result.log_probability =
        Filling(translator.model, options, static_cast<uint64_t>(options.first_line) + line)
            .fill(ids);
    result.text =
        translator.format.continuation(result.read.value_or(prompts[line]), prompt,
                                       {ids.begin() + begin, ids.end()}, translator.tokenizers);
    results.push_back({std::move(result)});
  }
  return results;
}

}  // namespace ablate::training
