#include "models/inference/logits_processor.h"

namespace ablate::models {
namespace {

/// Cells of a matrix of scores, of which all are read or written at once.
class Cells {
 public:
  void add(size_t row, int64_t token) {
    rows_.push_back(static_cast<int64_t>(row));
    tokens_.push_back(token);
  }
  bool empty() const { return rows_.empty(); }
  torch::Tensor rows(const torch::Tensor& scores) const {
    return torch::tensor(rows_, torch::kLong).to(scores.device());  // [N]
  }
  torch::Tensor of(const torch::Tensor& scores) const { return scores.index(indices(scores)); }
  void set(torch::Tensor& scores, const torch::Tensor& values) const {
    scores.index_put_(indices(scores), values);
  }
  void forbid(torch::Tensor& scores) const {
    if (!empty()) scores.index_put_(indices(scores), kForbidden);
  }

 private:
  std::vector<at::indexing::TensorIndex> indices(const torch::Tensor& scores) const {
    return {rows(scores), torch::tensor(tokens_, torch::kLong).to(scores.device())};
  }

  std::vector<int64_t> rows_, tokens_;
};

}  // namespace

void MinLength::operator()(torch::Tensor& scores, std::span<const RowContext> rows) const {
  Cells early;
  for (size_t row = 0; row < rows.size(); ++row)
    if (!rows[row].in_prefix() && std::ssize(rows[row].ids) < length) early.add(row, eos);
  early.forbid(scores);
}

void ForcedPrefix::operator()(torch::Tensor& scores, std::span<const RowContext> rows) const {
  Cells wanted;
  for (size_t row = 0; row < rows.size(); ++row)
    if (rows[row].in_prefix()) wanted.add(row, rows[row].prefix[rows[row].ids.size()]);
  if (wanted.empty()) return;
  const auto values = wanted.of(scores);  // [N]
  scores.index_fill_(0, wanted.rows(scores), kForbidden);
  wanted.set(scores, values);
}

LogitsProcessors::LogitsProcessors(const SearchOptions& options, const SpecialTokens& tokens,
                                   bool with_prefixes)
    : suppressed_{tokens.pad, tokens.bos} {
  if (options.min_length > 0 && tokens.eos != kNoEnd)
    processors_.emplace_back(MinLength{options.min_length, tokens.eos});
  if (with_prefixes) processors_.emplace_back(ForcedPrefix{});
}

torch::Tensor LogitsProcessors::apply(const torch::Tensor& logits,
                                      std::span<const RowContext> rows) const {
  const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  auto scores = torch::log_softmax(logits, -1, wide);
  for (const auto token : suppressed_) scores.select(1, token).fill_(kForbidden);
  for (const auto& process : processors_) process(scores, rows);
  return scores;
}

}  // namespace ablate::models
