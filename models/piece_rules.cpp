#include "models/piece_rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace ablate::models {
namespace {

void forbid(torch::Tensor row, std::span<const int64_t> ids) {
  for (const auto id : ids) row[id] = kImpossible;
}

/// Pieces that would end an n-gram that `ids` has already.
std::vector<int64_t> repeating(const std::vector<int64_t>& ids, int64_t n) {
  std::vector<int64_t> pieces;
  const auto tail = static_cast<std::ptrdiff_t>(n - 1);
  const auto count = std::ssize(ids);
  for (std::ptrdiff_t i = 0; i + tail < count; ++i)
    if (std::equal(ids.begin() + i, ids.begin() + i + tail, ids.end() - tail))
      pieces.push_back(ids[static_cast<size_t>(i + tail)]);
  return pieces;
}

void weaken(torch::Tensor row, const std::vector<int64_t>& ids, double penalty) {
  for (const auto id : std::set<int64_t>(ids.begin(), ids.end())) {
    const double logit = row[id].item<double>();
    row[id] = logit > 0 ? logit / penalty : logit * penalty;
  }
}

void apply(torch::Tensor row, const Written& written, const SearchOptions& options) {
  const auto& ids = *written.ids;
  if (written.prefix != nullptr && ids.size() < written.prefix->size()) {
    const auto wanted = (*written.prefix)[ids.size()];
    const auto value = row[wanted].clone();
    row.fill_(kImpossible);
    row[wanted] = value;
    return;
  }
  if (options.eos != kNoEnd && std::ssize(ids) < options.min_length) row[options.eos] = kImpossible;
  if (options.no_repeat_ngram > 0 && std::ssize(ids) >= options.no_repeat_ngram)
    forbid(row, repeating(ids, options.no_repeat_ngram));
}

}  // namespace

torch::Tensor permitted(const torch::Tensor& logits, std::span<const Written> rows,
                        const SearchOptions& options) {
  const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  auto changed = logits;
  if (options.repetition_penalty != 1) {
    changed = logits.to(wide, /*non_blocking=*/false, /*copy=*/true);
    for (size_t r = 0; r < rows.size(); ++r)
      weaken(changed[static_cast<int64_t>(r)], *rows[r].ids, options.repetition_penalty);
  }
  auto all = torch::log_softmax(changed, -1, wide);
  for (const auto mark : {options.pad, options.bos}) all.select(1, mark).fill_(kImpossible);
  for (size_t r = 0; r < rows.size(); ++r)
    if (rows[r].prefix != nullptr || options.min_length > 0 || options.no_repeat_ngram > 0)
      apply(all[static_cast<int64_t>(r)], rows[r], options);
  return all;
}

int64_t drawn(const torch::Tensor& log_probability, const Sampling& sampling, double uniform) {
  const auto row = log_probability.to(torch::kCPU, torch::kDouble).contiguous();
  const double* value = row.const_data_ptr<double>();
  std::vector<int64_t> order(static_cast<size_t>(row.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return value[a] > value[b]; });
  const auto weight = [&](size_t rank) {
    return std::exp((value[order[rank]] - value[order[0]]) / sampling.temperature);
  };
  double all = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) all += weight(rank);
  size_t kept = sampling.top_k > 0 ? std::min(order.size(), static_cast<size_t>(sampling.top_k))
                                   : order.size();
  double sum = 0;
  for (size_t rank = 0; rank < kept; ++rank) {
    sum += weight(rank);
    if (sum >= sampling.top_p * all) kept = rank + 1;
  }
  double left = uniform * sum;
  for (size_t rank = 0; rank + 1 < kept; ++rank)
    if ((left -= weight(rank)) < 0) return order[rank];
  return order[kept - 1];
}

}  // namespace ablate::models
