#include "experiments/exchange/huggingface/layouts.h"

#include <string>

namespace ablate::exchange {
namespace {

using models::Latent;
using models::LatentWidths;
using models::Mamba2;
using training::Tensors;

/// The name with another end.
std::string renamed(const std::string& name, const std::string& end, const std::string& other) {
  return name.substr(0, name.size() - end.size()) + other;
}

bool has_rows(const torch::Tensor& x, int64_t rows) { return x.dim() == 2 && x.size(0) == rows; }

/// The first rows of each head, `first` of them, behind its others. // [H N, D]
torch::Tensor with_parts_exchanged(const torch::Tensor& x, int64_t heads, int64_t first) {
  const auto by_head = x.unflatten(0, {heads, -1});
  return torch::cat({by_head.slice(1, first), by_head.slice(1, 0, first)}, 1).flatten(0, 1);
}

/// Rows by head -> the first `first` rows of all heads, then the others. // [H N, D]
torch::Tensor by_part(const torch::Tensor& x, int64_t heads, int64_t first) {
  const auto by_head = x.unflatten(0, {heads, -1});
  return torch::cat(
      {by_head.slice(1, 0, first).flatten(0, 1), by_head.slice(1, first).flatten(0, 1)});
}

torch::Tensor by_head(const torch::Tensor& x, int64_t heads, int64_t first) {
  const auto parts = x.split_with_sizes({heads * first, x.size(0) - heads * first});
  return torch::cat({parts[0].unflatten(0, {heads, -1}), parts[1].unflatten(0, {heads, -1})}, 1)
      .flatten(0, 1);
}

/// Neighbours among the rows from `from` to `to` of each head -> half of these rows apart.
torch::Tensor with_pairs_apart(const torch::Tensor& x, int64_t heads, int64_t from, int64_t to) {
  auto by_head = x.unflatten(0, {heads, -1}).clone();
  const auto turned = by_head.slice(1, from, to).clone();
  by_head.slice(1, from, to)
      .copy_(torch::cat({turned.slice(1, 0, {}, 2), turned.slice(1, 1, {}, 2)}, 1));
  return by_head.flatten(0, 1);
}

Tensors latent_in_our_layout(const Tensors& theirs, const LatentWidths& w, bool neighbours) {
  Tensors ours;
  for (const auto& [name, x] : theirs) {
    auto own = name;
    auto tensor = x;
    for (const std::string end : {".q_proj.weight", ".q_b_proj.weight"})
      if (name.ends_with(end) && has_rows(x, w.heads * (w.d_k + w.shared))) {
        own = renamed(name, end, ".q_proj.weight");
        tensor = with_parts_exchanged(x, w.heads, w.d_k);
        if (neighbours) tensor = with_pairs_apart(tensor, w.heads, 0, w.shared);
      }
    if (name.ends_with(".kv_b_proj.weight") && has_rows(x, w.heads * (w.d_k + w.d_v)))
      tensor = by_part(x, w.heads, w.d_k);
    if (name.ends_with(".kv_a_proj_with_mqa.weight") && has_rows(x, w.rank + w.shared) &&
        neighbours)
      tensor = with_pairs_apart(x, 1, w.rank, w.rank + w.shared);
    ours[own] = tensor;
  }
  return ours;
}

Tensors latent_in_their_layout(const Tensors& ours, const LatentWidths& w, bool has_query_rank) {
  Tensors theirs;
  for (const auto& [name, x] : ours)
    if (const std::string end = ".q_proj.weight"; name.ends_with(end))
      theirs[renamed(name, end, has_query_rank ? ".q_b_proj.weight" : end)] =
          with_parts_exchanged(x, w.heads, w.shared);
    else
      theirs[name] = name.ends_with(".kv_b_proj.weight") ? by_head(x, w.heads, w.d_k) : x;
  return theirs;
}

constexpr const char* kProjection = ".in_proj.weight";
constexpr const char* kStep = ".dt_proj.weight";
constexpr const char* kFilter = ".conv1d.weight";

Tensors mamba2_in_our_layout(const Tensors& theirs, int64_t heads) {
  Tensors ours;
  for (const auto& [name, x] : theirs)
    if (name.ends_with(kProjection) && x.dim() == 2 && x.size(0) > heads) {
      ours[name] = x.slice(0, 0, -heads);
      ours[renamed(name, kProjection, kStep)] = x.slice(0, -heads);
    } else if (name.ends_with(kFilter) && x.dim() == 3 && x.size(1) == 1) {
      ours[name] = x.squeeze(1).flip(1).t();
    } else {
      ours[name] = x;
    }
  return ours;
}

Tensors mamba2_in_their_layout(const Tensors& ours) {
  Tensors theirs;
  for (const auto& [name, x] : ours)
    if (name.ends_with(kProjection))
      theirs[name] = torch::cat({x, ours.at(renamed(name, kProjection, kStep))});
    else if (name.ends_with(kFilter))
      theirs[name] = x.t().flip(1).unsqueeze(1).contiguous();
    else if (!name.ends_with(kStep))
      theirs[name] = x;
  return theirs;
}

}  // namespace

Tensors in_our_layout(const Tensors& theirs, const models::TransformerOptions& options,
                      bool pairs_are_neighbours) {
  if (const auto* latent = std::get_if<Latent>(&options.layer.attention))
    return latent_in_our_layout(theirs, widths_of(*latent, options.d_model), pairs_are_neighbours);
  if (const auto* mamba2 = std::get_if<Mamba2>(&options.layer.attention))
    return mamba2_in_our_layout(theirs, mamba2->heads);
  return theirs;
}

Tensors in_their_layout(const Tensors& ours, const models::TransformerOptions& options) {
  if (const auto* latent = std::get_if<Latent>(&options.layer.attention))
    return latent_in_their_layout(ours, widths_of(*latent, options.d_model),
                                  latent->query_rank.has_value());
  if (std::holds_alternative<Mamba2>(options.layer.attention)) return mamba2_in_their_layout(ours);
  return ours;
}

}  // namespace ablate::exchange
