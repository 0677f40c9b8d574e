#include "models/inference/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/inference/hypothesis.h"
#include "models/inference/inference_model.h"
#include "models/random.h"

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
  const auto common = common_columns(input, lengths, models.front().family());
  auto states = initial_states(input, lengths, common, options);
  std::vector<std::vector<Hypothesis>> results(states.size());
  Ensemble ensemble(models, input.source.slice(1, 0, common), input.tokens,
                    {.tokens = options.draft, .reads = longest_way(states)});
  while (!states.empty()) {
    if (input.count != nullptr) input.count->tokens += ensemble.rows();
    const auto next = expand_all(states, ensemble.step(), processors, rules);
    for (auto& state : states)
      if (state.open.empty()) results[state.row] = std::move(state.best);
    std::erase_if(states, [](const BeamState& state) { return state.open.empty(); });
    if (!states.empty()) ensemble.advance(next);
  }
  if (input.count != nullptr) input.count->passes += ensemble.passes();
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

namespace {

constexpr int64_t kSuppressed = 2;  // tokens that no output has: padding and `bos`

/// All extensions of one state's open hypotheses, best first. A hypothesis that no token may follow
/// ends.
std::vector<Candidate> candidates_of(const BeamState& state, const ops::TopK& top,
                                     int64_t first_row, const SpecialTokens& tokens) {
  const auto value = top.values.accessor<double, 2>();
  const auto index = top.indices.accessor<int64_t, 2>();
  std::vector<Candidate> all;
  for (size_t parent = 0; parent < state.open.size(); ++parent) {
    const auto& open = state.open[parent];
    const auto before = all.size();
    for (int64_t k = 0; k < top.values.size(1); ++k) {
      const int64_t row = first_row + static_cast<int64_t>(parent), token = index[row][k];
      check_number(value[row][k], open);
      if (token != tokens.pad && token != tokens.bos && value[row][k] != kForbidden)
        all.push_back({parent, token, open.log_probability + value[row][k]});
    }
    if (all.size() == before) all.push_back({parent, tokens.eos, open.log_probability});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Candidate::log_probability);
  return all;
}

/// Takes the best extensions: ended ones compete, the others stay open.
void expand(BeamState& state, std::span<const Candidate> candidates, int64_t first_row,
            const SearchRules& rules, NextRows& next) {
  std::vector<OpenHypothesis> open;
  NextRows taken;
  const auto beam = static_cast<size_t>(rules.options.beam);
  for (size_t rank = 0; rank < candidates.size() && open.size() < beam; ++rank) {
    const auto& candidate = candidates[rank];
    const auto& parent = state.open[candidate.parent];
    const bool last = std::ssize(parent.ids) + 1 >= state.limit;
    if (candidate.token != rules.tokens.eos && !last) {
      open.push_back({.ids = parent.ids, .log_probability = candidate.log_probability});
      open.back().ids.push_back(candidate.token);
      taken.add(first_row + static_cast<int64_t>(candidate.parent), candidate.token);
    } else if (rank < beam) {
      add_finished(state, candidate, rules);
    }
  }
  if (is_done(state, open, rules)) return state.open.clear();
  state.open = std::move(open);
  for (size_t i = 0; i < taken.parents.size(); ++i) next.add(taken.parents[i], taken.tokens[i]);
}

}  // namespace

ops::TopK top_tokens(const torch::Tensor& logits, const LogitsProcessors& processors,
                     std::span<const RowContext> rows, int64_t count) {
  const int64_t vocabulary = logits.size(1);
  if (processors.empty())
    return ops::log_softmax_top_k(logits, std::min(count + kSuppressed, vocabulary));
  return ops::top_k(processors.apply(logits, rows), std::min(count, vocabulary));
}

NextRows beam_step(std::span<BeamState> states, const ops::TopK& top, const SearchRules& rules) {
  NextRows next;
  int64_t row = 0;
  for (auto& state : states) {
    const auto rows = std::ssize(state.open);
    if (!read_prompt(state, row, next))
      expand(state, candidates_of(state, top, row, rules.tokens), row, rules, next);
    row += rows;
  }
  return next;
}

namespace {

struct RankedToken {
  double value;
  int64_t id;
};

/// Tokens of at least `least`, the largest first, of equal ones the smaller id; sorted only as far
/// as they are read.
class Ranking {
 public:
  Ranking(std::span<const double> values, double least) {
    tokens_.reserve(values.size());
    for (size_t id = 0; id < values.size(); ++id)
      if (values[id] >= least) tokens_.push_back({values[id], static_cast<int64_t>(id)});
  }
  size_t size() const { return tokens_.size(); }
  const RankedToken& operator[](size_t rank) {
    while (rank >= sorted_) sort_more();
    return tokens_[rank];
  }

 private:
  void sort_more() {
    constexpr size_t kFirst = 64, kFew = 512;
    const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = tokens_.size() <= kFew ? tokens_.size()
                                     : std::min(tokens_.size(), std::max(kFirst, 4 * sorted_));
    const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    const auto before = [](const RankedToken& a, const RankedToken& b) {
      return a.value != b.value ? a.value > b.value : a.id < b.id;
    };
    // For many tokens, one heap would be slower than two passes.
    if (end != tokens_.end()) std::nth_element(begin, end, tokens_.end(), before);
    std::sort(begin, end, before);
  }

  std::vector<RankedToken> tokens_;
  size_t sorted_ = 0;
};

/// The random number of a step of one stream, in [0, 1).
double uniform_of(uint64_t seed, uint64_t stream, size_t step) {
  const auto bits = mix(mix(seed ^ mix(stream)) ^ step);
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// Opens as many hypotheses as outputs are wanted.
void open_samples(BeamState& state, int64_t n_best) {
  state.open.resize(static_cast<size_t>(n_best), state.open.front());
  for (size_t i = 1; i < state.open.size(); ++i) state.open[i].stream += i;
}

/// A random continuation of an open hypothesis; it ends if no token may follow.
Candidate drawn(const BeamState& state, size_t parent, std::span<const double> log_probability,
                const SearchRules& rules) {
  const auto& open = state.open[parent];
  for (const double value : log_probability) check_number(value, open);
  if (std::ranges::max(log_probability) == kForbidden)
    return {parent, rules.tokens.eos, open.log_probability};
  const auto& sampling = std::get<RandomSampling>(rules.options.sampling);
  const auto uniform =
      uniform_of(static_cast<uint64_t>(sampling.random_seed), open.stream, open.ids.size());
  const auto token = sample_token(log_probability, sampling, uniform);
  return {parent, token, open.log_probability + log_probability[static_cast<size_t>(token)]};
}

/// Draws a token for every open hypothesis of one state, whose rows begin at `first_row`; at the
/// first token all of them read the same row.
void sample_one(BeamState& state, std::span<const double> scores, int64_t first_row,
                const SearchRules& rules, NextRows& next) {
  const bool begins = state.open.front().ids.empty();
  const size_t width = scores.size() / (begins ? 1 : state.open.size());
  if (begins) open_samples(state, rules.n_best);
  std::vector<OpenHypothesis> open;
  for (size_t i = 0; i < state.open.size(); ++i) {
    auto& one = state.open[i];
    const size_t row = begins ? 0 : i;
    const auto taken = drawn(state, i, scores.subspan(row * width, width), rules);
    if (taken.token == rules.tokens.eos || std::ssize(one.ids) + 1 >= state.limit) {
      add_finished(state, taken, rules);
      continue;
    }
    open.push_back(
        {.ids = one.ids, .log_probability = taken.log_probability, .stream = one.stream});
    open.back().ids.push_back(taken.token);
    next.add(first_row + static_cast<int64_t>(row), taken.token);
  }
  state.open = std::move(open);
}

}  // namespace

int64_t sample_token(std::span<const double> log_probability, const RandomSampling& sampling,
                     double uniform) {
  const double highest = std::ranges::max(log_probability);
  TORCH_CHECK(std::isfinite(highest), "no token can be drawn");
  const auto weight = [&](double value) {
    return std::exp((value - highest) / sampling.temperature);
  };
  double sum = 0, enough = INFINITY, least = std::numeric_limits<double>::lowest();
  if (sampling.top_k == 0 || sampling.top_p < 1) {
    for (const double value : log_probability) sum += weight(value);
    const double left_out = 1 - (sampling.top_p < 1 ? sampling.top_p : uniform);
    const double share = left_out / (2 * static_cast<double>(log_probability.size()));
    // Together the tokens below it have less than half of the probability beyond top-p or the
    // number drawn.
    least = highest + sampling.temperature * std::log(share * sum);
    enough = sampling.top_p * sum;
  }
  Ranking ranked(log_probability, least);
  size_t kept = ranked.size();
  if (sampling.top_k > 0) kept = std::min(kept, static_cast<size_t>(sampling.top_k));
  if (sampling.top_k > 0 || sampling.top_p < 1) {
    sum = 0;
    for (size_t rank = 0; rank < kept; ++rank)
      if ((sum += weight(ranked[rank].value)) >= enough) kept = rank + 1;
  }
  double left = uniform * sum;
  for (size_t rank = 0; rank + 1 < kept; ++rank)
    if ((left -= weight(ranked[rank].value)) < 0) return ranked[rank].id;
  return ranked[kept - 1].id;
}

NextRows sample_step(std::span<BeamState> states, const torch::Tensor& log_probability,
                     const SearchRules& rules) {
  const auto wide = log_probability.to(torch::kCPU, torch::kDouble).contiguous();  // [R, V]
  const auto width = static_cast<size_t>(wide.size(1));
  const double* scores = wide.const_data_ptr<double>();
  NextRows next;
  int64_t row = 0;
  for (auto& state : states) {
    const auto rows = state.open.size();
    if (!read_prompt(state, row, next))
      sample_one(state, {scores + static_cast<size_t>(row) * width, rows * width}, row, rules,
                 next);
    row += static_cast<int64_t>(rows);
  }
  return next;
}

}  // namespace ablate::models
