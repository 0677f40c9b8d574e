#include "models/decode.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/ops/linear_cross_entropy.h"
#include "models/ops/top_k.h"
#include "models/piece_rules.h"
#include "models/random.h"
#include "models/voters.h"

namespace ablate::models {
namespace {

constexpr int64_t kMostWalks = 65'536;  // of one sentence

/// An unfinished hypothesis of one sentence.
struct Open {
  std::vector<int64_t> ids;
  double log_probability;
  double coverage = 0;  // penalty for source pieces that were hardly read
  int64_t stream = 0;   // of the random numbers, where outputs are drawn
};

/// What the search knows of one sentence; dropped from the batch as soon as it is done.
struct Sentence {
  size_t index;   // row of the source
  int64_t limit;  // most pieces of an output
  const std::vector<int64_t>* prefix;
  std::vector<Open> open;
  int64_t ended = 0;
  std::vector<Hypothesis> best;  // finished ones, best first, at most n_best
};

/// One extension of an open hypothesis.
struct Candidate {
  size_t parent;
  int64_t id;
  double log_probability;
};

double normalised(double log_probability, size_t pieces, double penalty) {
  return log_probability / std::pow(static_cast<double>(pieces), penalty);
}

/// The 2 * beam best extensions of one sentence, best first, from its rows' best pieces.
std::vector<Candidate> extensions(const Sentence& sentence, const torch::Tensor& values,
                                  const torch::Tensor& ids, int64_t first_row) {
  const auto value = values.accessor<double, 2>();
  const auto id = ids.accessor<int64_t, 2>();
  std::vector<Candidate> all;
  for (size_t parent = 0; parent < sentence.open.size(); ++parent)
    for (int64_t k = 0; k < values.size(1); ++k) {
      const int64_t row = first_row + static_cast<int64_t>(parent);
      if (value[row][k] != kImpossible)
        all.push_back({parent, id[row][k], sentence.open[parent].log_probability + value[row][k]});
    }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.log_probability > b.log_probability;
  });
  return all;
}

/// Takes a finished hypothesis among the best, which stay sorted; of equals the first stays first.
void finish(Sentence& sentence, const Open& parent, const Candidate& last,
            const SearchOptions& options) {
  ++sentence.ended;
  Hypothesis done{
      .ids = parent.ids,
      .score = normalised(last.log_probability, parent.ids.size() + 1, options.length_penalty) +
               parent.coverage,
      .log_probability = last.log_probability};
  if (last.id != options.eos) done.ids.push_back(last.id);
  auto& best = sentence.best;
  const auto place =
      std::ranges::find_if(best, [&](const Hypothesis& other) { return done.score > other.score; });
  best.insert(place, std::move(done));
  if (std::ssize(best) > options.n_best) best.pop_back();
}

/// Whether no descendant of what is open can still come among the best: log-probabilities only
/// fall, and the penalty for coverage is at best 0.
bool decided(const Sentence& sentence, const std::vector<Open>& open,
             const SearchOptions& options) {
  if (open.empty() || sentence.ended >= std::max(options.beam, options.n_best)) return true;
  if (std::ssize(sentence.best) < options.n_best) return false;
  return sentence.best.back().score >= normalised(open.front().log_probability,
                                                  static_cast<size_t>(sentence.limit),
                                                  options.length_penalty);
}

/// Takes the best extensions: finished ones compete, the others stay open. Appends the parent row
/// of every hypothesis that stays open.
void advance(Sentence& sentence, const std::vector<Candidate>& candidates, int64_t first_row,
             const SearchOptions& options, std::vector<int64_t>& parents) {
  std::vector<Open> next;
  std::vector<int64_t> rows;
  const auto beam = static_cast<size_t>(options.beam);
  for (size_t rank = 0; rank < candidates.size() && next.size() < beam; ++rank) {
    const auto& candidate = candidates[rank];
    const auto& parent = sentence.open[candidate.parent];
    const bool last = std::ssize(parent.ids) + 1 >= sentence.limit;
    if (candidate.id != options.eos && !last) {
      next.push_back({parent.ids, candidate.log_probability});
      next.back().ids.push_back(candidate.id);
      rows.push_back(first_row + static_cast<int64_t>(candidate.parent));
    } else if (rank < beam) {
      finish(sentence, parent, candidate, options);
    }
  }
  if (decided(sentence, next, options)) return sentence.open.clear();
  sentence.open = std::move(next);
  parents.insert(parents.end(), rows.begin(), rows.end());
}

/// Draws the next piece of every walk; a number of its own for every row, walk and step.
void draw_next(Sentence& sentence, const torch::Tensor& log_probability, int64_t first_row,
               const SearchOptions& options, std::vector<int64_t>& parents) {
  std::vector<Open> next;
  for (size_t i = 0; i < sentence.open.size(); ++i) {
    auto& walk = sentence.open[i];
    const auto row = log_probability[first_row + static_cast<int64_t>(i)];
    const auto bits = mix(mix(options.sampling->seed ^ mix(static_cast<uint64_t>(walk.stream))) ^
                          walk.ids.size());
    const double uniform = static_cast<double>(bits >> 11) * 0x1.0p-53;
    const auto id = drawn(row, *options.sampling, uniform);
    const Candidate taken{i, id, walk.log_probability + row[id].item<double>()};
    if (id == options.eos || std::ssize(walk.ids) + 1 >= sentence.limit) {
      finish(sentence, walk, taken, options);
      continue;
    }
    walk.ids.push_back(id);
    next.push_back({walk.ids, taken.log_probability, 0, walk.stream});
    parents.push_back(first_row + static_cast<int64_t>(i));
  }
  sentence.open = std::move(next);
}

torch::Tensor last_ids(const std::vector<Sentence>& sentences, const torch::Tensor& like) {
  std::vector<int64_t> ids;
  for (const auto& sentence : sentences)
    for (const auto& open : sentence.open) ids.push_back(open.ids.back());
  return torch::tensor(ids, torch::kLong).to(like.device());
}

std::vector<Sentence> begun(const torch::Tensor& source, const SearchOptions& options,
                            std::span<const std::vector<int64_t>* const> prefixes) {
  std::vector<Sentence> sentences;
  const auto lengths = source.ne(options.pad).sum(1).cpu();
  for (int64_t row = 0; row < source.size(0); ++row) {
    const double limit = 10 + options.max_ratio * lengths[row].item<double>();
    const auto* prefix = prefixes[static_cast<size_t>(row)];
    sentences.push_back(
        {.index = static_cast<size_t>(row),
         .limit = static_cast<int64_t>(std::min(limit, static_cast<double>(options.max_length))),
         .prefix = prefix,
         .open = {{{}, 0.0}},
         .best = {}});
    if (prefix != nullptr)
      sentences.back().limit = std::max(sentences.back().limit, std::ssize(*prefix) + 1);
  }
  return sentences;
}

std::vector<Written> written(const std::vector<Sentence>& sentences) {
  std::vector<Written> rows;
  for (const auto& sentence : sentences)
    for (const auto& open : sentence.open) rows.push_back({&open.ids, sentence.prefix});
  return rows;
}

/// Whether nothing but the model decides, so that rows need only their best pieces.
bool plain(std::span<const Sentence> sentences, const SearchOptions& options) {
  return !options.sampling && options.min_length == 0 && options.no_repeat_ngram == 0 &&
         options.repetition_penalty == 1 &&
         std::ranges::all_of(sentences, [](const auto& one) { return one.prefix == nullptr; });
}

/// The likeliest pieces of every row, best first.
struct Best {
  torch::Tensor values, ids;  // [R, k], log-probabilities in double
};

Best best_of(const torch::Tensor& permitted, int64_t count) {
  const auto [values, ids] = permitted.topk(std::min(count, permitted.size(1)), -1);
  return {values.to(torch::kDouble).cpu(), ids.cpu()};
}

/// The same from logits alone, without what no output may hold.
Best best_of_logits(const torch::Tensor& logits, int64_t count, const SearchOptions& options) {
  const int64_t wanted = std::min(count, logits.size(1) - 2);
  const auto top = ops::log_softmax_top_k(logits, wanted + 2);
  Best best{torch::empty({logits.size(0), wanted}, torch::kDouble),
            torch::empty({logits.size(0), wanted}, torch::kLong)};
  const auto value = top.values.accessor<double, 2>();
  const auto index = top.indices.accessor<int64_t, 2>();
  auto values = best.values.accessor<double, 2>();
  auto ids = best.ids.accessor<int64_t, 2>();
  for (int64_t row = 0; row < logits.size(0); ++row)
    for (int64_t i = 0, kept = 0; kept < wanted; ++i) {
      if (index[row][i] == options.pad || index[row][i] == options.bos) continue;
      values[row][kept] = value[row][i];
      ids[row][kept++] = index[row][i];
    }
  return best;
}

/// Extends every open hypothesis; the rows that those which stay open come from.
std::vector<int64_t> extend(std::vector<Sentence>& sentences, const torch::Tensor& logits,
                            const SearchOptions& options) {
  std::vector<int64_t> parents;
  int64_t row = 0;
  Best best;
  torch::Tensor all;
  if (plain(sentences, options) && logits.size(1) > 2) {
    best = best_of_logits(logits, 2 * options.beam, options);
  } else {
    all = permitted(logits, written(sentences), options);
    if (options.sampling)
      all = all.cpu();
    else
      best = best_of(all, 2 * options.beam);
  }
  for (auto& sentence : sentences) {
    const auto rows = std::ssize(sentence.open);
    if (options.sampling)
      draw_next(sentence, all, row, options, parents);
    else
      advance(sentence, extensions(sentence, best.values, best.ids, row), row, options, parents);
    row += rows;
  }
  return parents;
}

/// Gives every open hypothesis its penalty, which has a number for each row or none at all.
void set_coverage(std::vector<Sentence>& sentences, const std::vector<double>& penalties) {
  size_t row = 0;
  if (penalties.empty()) return;
  for (auto& sentence : sentences)
    for (auto& open : sentence.open) open.coverage = penalties[row++];
}

/// Where outputs are drawn, every sentence begins as many walks as outputs are wanted of it.
void begin_walks(std::vector<Sentence>& sentences, Voters& voters, const SearchOptions& options,
                 std::span<const int64_t> numbers) {
  if (!options.sampling) return;
  std::vector<int64_t> rows;
  for (auto& sentence : sentences) {
    sentence.open.clear();
    for (int64_t i = 0; i < options.n_best; ++i) {
      sentence.open.push_back({{}, 0.0, 0, numbers[sentence.index] * kMostWalks + i});
      rows.push_back(static_cast<int64_t>(sentence.index));
    }
  }
  voters.repeat(rows);
}

/// Rows of one batch: their ids, their numbers among all rows, their prefixes.
struct Rows {
  torch::Tensor source;
  std::vector<int64_t> numbers;
  std::vector<const std::vector<int64_t>*> prefixes;
};

std::vector<std::vector<Hypothesis>> search_together(std::span<Transformer> models,
                                                     const Rows& rows,
                                                     const SearchOptions& options) {
  auto sentences = begun(rows.source, options, rows.prefixes);
  std::vector<std::vector<Hypothesis>> results(sentences.size());
  Voters voters(models, rows.source, options);
  begin_walks(sentences, voters, options, rows.numbers);
  while (!sentences.empty()) {
    const auto logits = voters.step();
    set_coverage(sentences, voters.coverage());
    const auto parents = extend(sentences, logits, options);
    for (auto& sentence : sentences)
      if (sentence.open.empty()) results[sentence.index] = std::move(sentence.best);
    std::erase_if(sentences, [](const Sentence& sentence) { return sentence.open.empty(); });
    if (sentences.empty()) break;
    voters.go_on(parents, last_ids(sentences, rows.source));
  }
  return results;
}

/// Batches of rows that can go together: the beginning of a decoder-only model's sequence has no
/// padding, so only rows of one length do.
std::vector<std::vector<int64_t>> rows_together(const torch::Tensor& source, Family family,
                                                const SearchOptions& options) {
  const auto lengths = source.ne(options.pad).sum(1).cpu();
  std::map<int64_t, std::vector<int64_t>> rows_of;
  for (int64_t row = 0; row < source.size(0); ++row)
    rows_of[family == Family::decoder_only ? lengths[row].item<int64_t>() : 0].push_back(row);
  std::vector<std::vector<int64_t>> all;
  for (auto& [length, rows] : rows_of) all.push_back(std::move(rows));
  return all;
}

}  // namespace

std::vector<std::vector<Hypothesis>> search_all(std::span<Transformer> models,
                                                const SearchInput& input,
                                                const SearchOptions& options) {
  torch::NoGradGuard no_grad;
  const auto& source = input.source;
  std::vector<std::vector<Hypothesis>> results(static_cast<size_t>(source.size(0)));
  const auto family = models.front()->family();
  for (const auto& together : rows_together(source, family, options)) {
    Rows rows{source, {}, {}};
    for (const auto row : together) {
      const auto at = static_cast<size_t>(row);
      rows.numbers.push_back(input.numbers.empty() ? row : input.numbers[at]);
      rows.prefixes.push_back(input.prefixes.empty() ? nullptr : &input.prefixes[at]);
    }
    if (family == Family::decoder_only) {
      const auto chosen = torch::tensor(together, torch::kLong).to(source.device());
      const auto length = source[together.front()].ne(options.pad).sum().item<int64_t>();
      rows.source = source.slice(1, 0, length).index_select(0, chosen);
    }
    auto found = search_together(models, rows, options);
    for (size_t i = 0; i < together.size(); ++i)
      results[static_cast<size_t>(together[i])] = std::move(found[i]);
  }
  return results;
}

std::vector<Hypothesis> search(Transformer& model, const torch::Tensor& source,
                               const SearchOptions& options) {
  std::vector<Hypothesis> results;
  for (auto& found : search_all({&model, 1}, {source, {}, {}}, options))
    results.push_back(found.empty() ? Hypothesis{} : std::move(found.front()));
  return results;
}

torch::Tensor score(Transformer& model, const torch::Tensor& source, const torch::Tensor& target_in,
                    const torch::Tensor& target_out, int64_t pad) {
  torch::NoGradGuard no_grad;
  const auto hidden = model->hidden(source, target_in).hidden;  // [B, T, D]
  const auto scores = ops::score_targets(hidden.flatten(0, 1), model->output_projection(),
                                         target_out.flatten(), pad);
  return -scores.nll.view_as(target_out).sum(1, /*keepdim=*/false, torch::kDouble);
}

}  // namespace ablate::models
