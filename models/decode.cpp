#include "models/decode.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ablate::models {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// An unfinished hypothesis of one sentence.
struct Open {
  std::vector<int64_t> ids;
  double log_probability;
};

/// What the search knows of one sentence; dropped from the batch as soon as it is done.
struct Sentence {
  size_t index;   // row of the source
  int64_t limit;  // most pieces of an output
  std::vector<Open> open;
  int64_t ended = 0;
  Hypothesis best{.ids = {}, .score = kImpossible};
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
      all.push_back({parent, id[row][k], sentence.open[parent].log_probability + value[row][k]});
    }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.log_probability > b.log_probability;
  });
  return all;
}

/// Takes the best extensions: finished ones compete for `best`, the others stay open. Appends the
/// parent row of every hypothesis that stays open.
void advance(Sentence& sentence, const std::vector<Candidate>& candidates, int64_t first_row,
             const SearchOptions& options, std::vector<int64_t>& parents) {
  std::vector<Open> next;
  std::vector<int64_t> rows;
  const auto beam = static_cast<size_t>(options.beam);
  for (size_t rank = 0; rank < candidates.size() && next.size() < beam; ++rank) {
    const auto& candidate = candidates[rank];
    const auto& parent = sentence.open[candidate.parent];
    const size_t pieces = parent.ids.size() + 1;
    const bool last = static_cast<int64_t>(pieces) >= sentence.limit;
    if (candidate.id != options.eos && !last) {
      next.push_back({parent.ids, candidate.log_probability});
      next.back().ids.push_back(candidate.id);
      rows.push_back(first_row + static_cast<int64_t>(candidate.parent));
      continue;
    }
    if (rank >= beam) continue;
    ++sentence.ended;
    const double score = normalised(candidate.log_probability, pieces, options.length_penalty);
    if (!(score > sentence.best.score)) continue;
    sentence.best = {parent.ids, score};
    if (candidate.id != options.eos) sentence.best.ids.push_back(candidate.id);
  }
  // Log-probabilities only fall, so no descendant of an open hypothesis scores above this bound.
  const double reachable =
      next.empty() ? kImpossible
                   : normalised(next.front().log_probability, static_cast<size_t>(sentence.limit),
                                options.length_penalty);
  if (next.empty() || sentence.ended >= options.beam || sentence.best.score >= reachable) {
    sentence.open.clear();
    return;
  }
  sentence.open = std::move(next);
  parents.insert(parents.end(), rows.begin(), rows.end());
}

/// The best pieces of every row, as log-probabilities in double; padding and start marks are no
/// pieces of an output. // [R, V] -> [R, k], [R, k]
std::pair<torch::Tensor, torch::Tensor> best_pieces(const torch::Tensor& logits, int64_t count,
                                                    const SearchOptions& options) {
  const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  auto log_probability = torch::log_softmax(logits, -1, wide);
  for (const auto mark : {options.pad, options.bos})
    log_probability.select(1, mark).fill_(kImpossible);
  const auto [values, ids] = log_probability.topk(std::min(count, logits.size(1)), -1);
  return {values.to(torch::kDouble).cpu(), ids.cpu()};
}

torch::Tensor last_ids(const std::vector<Sentence>& sentences, const torch::Tensor& like) {
  std::vector<int64_t> ids;
  for (const auto& sentence : sentences)
    for (const auto& open : sentence.open) ids.push_back(open.ids.back());
  return torch::tensor(ids, torch::kLong).to(like.device());
}

std::vector<Hypothesis> search_together(Transformer& model, const torch::Tensor& source,
                                        const SearchOptions& options) {
  std::vector<Sentence> sentences;
  const auto lengths = source.ne(options.pad).sum(1).cpu();
  for (int64_t row = 0; row < source.size(0); ++row) {
    const double limit = 10 + options.max_ratio * lengths[row].item<double>();
    sentences.push_back(
        {.index = static_cast<size_t>(row),
         .limit = static_cast<int64_t>(std::min(limit, static_cast<double>(options.max_length))),
         .open = {{{}, 0.0}}});
  }
  std::vector<Hypothesis> results(sentences.size());
  auto last = torch::full({source.size(0)}, options.bos, source.options());
  auto begin = source;
  if (model->family() == Family::decoder_only) {
    begin = torch::cat({last.unsqueeze(1), source}, 1);  // [R, 1 + S], its last id not yet read
    last = begin.select(1, source.size(1));
    begin = begin.slice(1, 0, source.size(1));
  }
  auto cache = model->start(begin);
  while (!sentences.empty()) {
    const auto [values, ids] = best_pieces(model->step(last, cache), 2 * options.beam, options);
    std::vector<int64_t> parents;
    int64_t row = 0;
    for (auto& sentence : sentences) {
      const auto rows = static_cast<int64_t>(sentence.open.size());
      advance(sentence, extensions(sentence, values, ids, row), row, options, parents);
      row += rows;
      if (sentence.open.empty()) results[sentence.index] = sentence.best;
    }
    std::erase_if(sentences, [](const Sentence& sentence) { return sentence.open.empty(); });
    if (sentences.empty()) break;
    const auto rows = torch::tensor(parents, torch::kLong);
    if (row != rows.size(0) || !torch::equal(rows, torch::arange(row)))
      cache.reorder(rows.to(source.device()));
    last = last_ids(sentences, source);
  }
  return results;
}

}  // namespace

std::vector<Hypothesis> search(Transformer& model, const torch::Tensor& source,
                               const SearchOptions& options) {
  torch::NoGradGuard no_grad;
  if (model->family() != Family::decoder_only) return search_together(model, source, options);
  // The beginning of a sequence has no padding, so only rows of one length go together.
  std::map<int64_t, std::vector<int64_t>> rows_of;
  const auto lengths = source.ne(options.pad).sum(1).cpu();
  for (int64_t row = 0; row < source.size(0); ++row)
    rows_of[lengths[row].item<int64_t>()].push_back(row);
  std::vector<Hypothesis> results(static_cast<size_t>(source.size(0)));
  for (const auto& [length, rows] : rows_of) {
    const auto chosen = torch::tensor(rows, torch::kLong).to(source.device());
    auto found =
        search_together(model, source.slice(1, 0, length).index_select(0, chosen), options);
    for (size_t i = 0; i < rows.size(); ++i)
      results[static_cast<size_t>(rows[i])] = std::move(found[i]);
  }
  return results;
}

torch::Tensor score(Transformer& model, const torch::Tensor& source, const torch::Tensor& target_in,
                    const torch::Tensor& target_out, int64_t pad) {
  torch::NoGradGuard no_grad;
  const auto logits = model->forward(source, target_in);
  const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  const auto log_probability = torch::log_softmax(logits, -1, wide);
  const auto chosen = log_probability.gather(2, target_out.unsqueeze(2)).squeeze(2);  // [B, T]
  return chosen.masked_fill(target_out.eq(pad), 0.0).sum(1, /*keepdim=*/false, torch::kDouble);
}

}  // namespace ablate::models
