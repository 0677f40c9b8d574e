#include "experiments/exchange/huggingface/marian_form.h"

#include <cmath>

#include "models/position/position.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/errors.h"

namespace ablate::exchange {
namespace {

constexpr const char* kEmbedding = "model.shared.weight";
constexpr const char* kTables[] = {"model.encoder.embed_positions.weight",
                                   "model.decoder.embed_positions.weight"};
constexpr double kTableRounding = 1e-4;

torch::Tensor sinusoids(int64_t rows, const models::TransformerOptions& options) {
  return models::sinusoidal(torch::arange(rows),
                            std::get<models::Sinusoidal>(options.layer.position), options.d_model);
}

double scale_of(const models::TransformerOptions& options) {
  return options.embedding_scale ? std::sqrt(static_cast<double>(options.d_model)) : 1.0;
}

/// How far two numbers of a table may differ because each was rounded.
double table_rounding(const torch::Tensor& table) {
  const auto type = table.scalar_type();
  const double step = type == torch::kBFloat16 ? 0x1p-8 : type == torch::kHalf ? 0x1p-11 : 0;
  return kTableRounding + 2 * step * table.abs().max().item<double>();
}

}  // namespace

std::vector<int32_t> marian_order(const tokenizer::IdMap& ids) {
  std::vector<int32_t> order{tokenizer::kEos, tokenizer::kUnk};
  for (int32_t id = tokenizer::kUnk + 1; id < ids.size(); ++id) order.push_back(id);
  if (ids.is_written(tokenizer::kPad)) order.push_back(tokenizer::kPad);
  order.push_back(tokenizer::kBos);
  return order;
}

tokenizer::SpecialIds marian_specials(const std::vector<int32_t>& order, bool masked) {
  const auto last = static_cast<int32_t>(order.size()) - 1;
  tokenizer::SpecialIds special{.pad = last, .bos = last, .eos = 0, .unk = 1, .mask = {}};
  if (masked) special.mask = 2;
  return special;
}

void start_from_zero(training::Tensors& tensors, const models::TransformerOptions& options,
                     int64_t positions) {
  auto& embedding = tensors.at(kEmbedding);
  const auto start = embedding[-1].to(torch::kDouble);
  const auto table = sinusoids(positions, options) + start * scale_of(options);
  embedding = (embedding.to(torch::kDouble) - start).to(embedding.scalar_type());
  for (const auto* name : kTables) tensors[name] = table.to(embedding.scalar_type()).contiguous();
}

torch::Tensor start_vector(const training::Tensors& tensors,
                           const models::TransformerOptions& options) {
  torch::Tensor added;
  for (const auto* name : kTables) {
    const auto table = tensors.find(name);
    if (table == tensors.end()) continue;
    if (table->second.dim() != 2 || table->second.size(1) != options.d_model)
      throw training::CheckpointError(std::string(name) + " is no table of positions");
    const auto more = table->second.to(torch::kDouble) - sinusoids(table->second.size(0), options);
    if (!added.defined()) added = more[0];
    if (!((more - added).abs().max().item<double>() < table_rounding(table->second)))
      throw training::CheckpointError(std::string(name) +
                                      " holds no sinusoids, which Marian has alone");
  }
  return added.defined() ? added / scale_of(options) : added;
}

}  // namespace ablate::exchange
