#include "models/inference/search.h"

#include <algorithm>

#include "models/inference/beam.h"
#include "models/inference/hypothesis.h"
#include "models/inference/inference_model.h"
#include "models/inference/sampling.h"

namespace ablate::models {
namespace {

constexpr uint64_t kStreamsOfRow = 65'536;  // of random numbers

std::vector<int64_t> ids_of(const torch::Tensor& ids) {
  const auto row = ids.contiguous();
  return {row.const_data_ptr<int64_t>(), row.const_data_ptr<int64_t>() + row.numel()};
}

std::vector<int64_t> lengths_of(const SearchInput& input) {
  return ids_of(input.source.ne(input.tokens.pad.value).sum(1).cpu());
}

/// Columns that all models read at once: of prompts those that the shortest one fills.
int64_t common_columns(const SearchInput& input, std::span<const int64_t> lengths, Family family) {
  if (family != Family::decoder_only || lengths.empty()) return input.source.size(1);
  return std::ranges::min(lengths);
}

std::vector<BeamState> initial_states(const SearchInput& input, std::span<const int64_t> lengths,
                                      int64_t common, const SearchOptions& options) {
  const auto ids = input.source.cpu();
  std::vector<BeamState> states;
  for (size_t row = 0; row < lengths.size(); ++row) {
    const auto number = input.numbers.empty() ? static_cast<int64_t>(row) : input.numbers[row];
    BeamState state{.row = row,
                    .limit = options.longest_output(lengths[row]),
                    .prompt = ids_of(ids[static_cast<int64_t>(row)].slice(0, common, lengths[row])),
                    .open = {{.stream = static_cast<uint64_t>(number) * kStreamsOfRow}}};
    if (!input.prefixes.empty()) {
      state.prefix = input.prefixes[row];
      state.limit = std::max(state.limit, std::ssize(state.prefix) + 1);
    }
    states.push_back(std::move(state));
  }
  return states;
}

/// Counts the rows that write in the next step, and the pass that it needs unless an earlier one
/// reached it. A row that still reads its prompt is not counted.
void count_step(SearchCount* count, std::span<const BeamState> states, bool in_new_pass) {
  if (count == nullptr) return;
  int64_t writing = 0;
  for (const auto& state : states)
    if (state.prompt.empty()) writing += std::ssize(state.open);
  count->tokens += writing;
  if (in_new_pass) count->passes += writing;
}

/// The tokens that the row with the most still reads and writes.
int64_t longest_way(std::span<const BeamState> states) {
  int64_t most = 0;
  for (const auto& state : states) most = std::max(most, std::ssize(state.prompt) + state.limit);
  return most;
}

std::vector<RowContext> contexts_of(std::span<const BeamState> states) {
  std::vector<RowContext> rows;
  for (const auto& state : states)
    for (const auto& open : state.open) rows.push_back({open.ids, state.prefix});
  return rows;
}

/// Extends every open hypothesis, drawing tokens or keeping the best.
NextRows expand_all(std::span<BeamState> states, const torch::Tensor& logits,
                    const LogitsProcessors& processors, const SearchRules& rules) {
  const auto rows = processors.empty() ? std::vector<RowContext>() : contexts_of(states);
  if (draws(rules.options.sampling))
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
  const LogitsProcessors processors(options, input.tokens, !input.prefixes.empty(),
                                    input.unwritten);
  const auto lengths = lengths_of(input);
  const auto common = common_columns(input, lengths, models.front().family());
  auto states = initial_states(input, lengths, common, options);
  std::vector<std::vector<Hypothesis>> results(states.size());
  Ensemble ensemble(models, input.source.slice(1, 0, common), input.tokens,
                    {.tokens = options.draft, .reads = longest_way(states)});
  while (!states.empty()) {
    count_step(input.count, states, !ensemble.is_reached());
    const auto next = expand_all(states, ensemble.step(), processors, rules);
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
                    const torch::Tensor& target_in, const torch::Tensor& target_out) {
  const auto scores = model.score_targets(source, target_in, target_out);
  return -scores.nll.sum(1, /*keepdim=*/false, torch::kDouble);
}

}  // namespace ablate::models
