#include "models/inference/search.h"

#include <algorithm>

#include "models/inference/beam_search.h"
#include "models/inference/ensemble.h"
#include "models/inference/logits_processor.h"
#include "models/inference/sampling.h"
#include "models/ops/linear_cross_entropy.h"

namespace ablate::models {
namespace {

constexpr uint64_t kStreamsOfRow = 65'536;  // of random numbers

/// Rows as a decoder-only model continues them: all read the columns that the shortest one fills,
/// and each then reads the rest of its own.
struct Prompts {
  torch::Tensor common;                    // [B, S]
  std::vector<std::vector<int64_t>> rest;  // of each row
};

std::vector<int64_t> ids_of(const torch::Tensor& row) {
  return {row.const_data_ptr<int64_t>(), row.const_data_ptr<int64_t>() + row.numel()};
}

std::vector<int64_t> lengths_of(const SearchInput& input) {
  return ids_of(input.source.ne(input.tokens.pad.value).sum(1).cpu());
}

Prompts prompts_of(const SearchInput& input, std::span<const int64_t> lengths, Family family) {
  Prompts prompts{input.source, std::vector<std::vector<int64_t>>(lengths.size())};
  if (family != Family::decoder_only || lengths.empty()) return prompts;
  const auto shortest = std::ranges::min(lengths);
  prompts.common = input.source.slice(1, 0, shortest);
  const auto ids = input.source.cpu().contiguous();
  for (size_t row = 0; row < lengths.size(); ++row)
    prompts.rest[row] = ids_of(ids[static_cast<int64_t>(row)].slice(0, shortest, lengths[row]));
  return prompts;
}

std::vector<BeamState> initial_states(const SearchInput& input, std::span<const int64_t> lengths,
                                      const Prompts& prompts, const SearchOptions& options) {
  std::vector<BeamState> states;
  for (size_t row = 0; row < lengths.size(); ++row) {
    const double limit = std::min(10 + options.max_ratio * static_cast<double>(lengths[row]),
                                  static_cast<double>(options.max_length));
    const auto number = input.numbers.empty() ? static_cast<int64_t>(row) : input.numbers[row];
    BeamState state{.row = row,
                    .limit = static_cast<int64_t>(limit),
                    .prompt = prompts.rest[row],
                    .open = {{.stream = static_cast<uint64_t>(number) * kStreamsOfRow}}};
    if (!input.prefixes.empty()) {
      state.prefix = input.prefixes[row];
      state.limit = std::max(state.limit, std::ssize(state.prefix) + 1);
    }
    states.push_back(std::move(state));
  }
  return states;
}

std::vector<RowContext> contexts_of(std::span<const BeamState> states) {
  std::vector<RowContext> rows;
  for (const auto& state : states)
    for (const auto& open : state.open) rows.push_back({open.ids, state.prefix});
  return rows;
}

/// Gives every open hypothesis its penalty; there is one for each row, or none at all.
void set_coverage(std::span<BeamState> states, const std::vector<double>& penalties) {
  size_t row = 0;
  if (penalties.empty()) return;
  for (auto& state : states)
    for (auto& open : state.open) open.coverage = penalties[row++];
}

/// Extends every open hypothesis, drawing tokens or keeping the best.
NextRows expand_all(std::span<BeamState> states, const torch::Tensor& logits,
                    const LogitsProcessors& processors, const SearchRules& rules) {
  const auto rows = contexts_of(states);
  if (std::holds_alternative<RandomSampling>(rules.options.sampling))
    return sample_step(states, processors.apply(logits, rows), rules);
  return beam_step(states, top_tokens(logits, processors, rows, 2 * rules.options.beam), rules);
}

}  // namespace

std::vector<std::vector<Hypothesis>> search_all(std::span<const InferenceModel> models,
                                                const SearchInput& input,
                                                const SearchOptions& options) {
  const torch::NoGradGuard no_grad;
  auto widened = options;
  widened.beam = std::max(options.beam, input.n_best);
  const SearchRules rules{widened, input.tokens, input.n_best};
  const LogitsProcessors processors(options, input.tokens, !input.prefixes.empty());
  const auto lengths = lengths_of(input);
  const auto prompts = prompts_of(input, lengths, models.front().family());
  auto states = initial_states(input, lengths, prompts, options);
  std::vector<std::vector<Hypothesis>> results(states.size());
  Ensemble ensemble(models, prompts.common, input.tokens, options.coverage_penalty);
  while (!states.empty()) {
    const auto logits = ensemble.step();
    set_coverage(states, ensemble.coverage());
    const auto next = expand_all(states, logits, processors, rules);
    for (auto& state : states)
      if (state.open.empty()) results[state.row] = std::move(state.best);
    std::erase_if(states, [](const BeamState& state) { return state.open.empty(); });
    if (!states.empty()) ensemble.advance(next);
  }
  return results;
}

std::vector<Hypothesis> search(const InferenceModel& model, const SearchInput& input,
                               const SearchOptions& options) {
  std::vector<Hypothesis> results;
  for (auto& found : search_all({&model, 1}, input, options))
    results.push_back(found.empty() ? Hypothesis{} : std::move(found.front()));
  return results;
}

torch::Tensor score(const InferenceModel& model, const torch::Tensor& source,
                    const torch::Tensor& target_in, const torch::Tensor& target_out, int64_t pad) {
  const torch::NoGradGuard no_grad;
  auto network = model.network();
  const auto hidden = network->hidden(source, target_in).hidden;  // [B, T, D]
  const auto scores =
      ops::score_targets(hidden, network->output_projection(), target_out, pad);  // [B, T]
  return -scores.nll.sum(1, /*keepdim=*/false, torch::kDouble);
}

}  // namespace ablate::models
