#include "experiments/exchange/huggingface/unused_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>
#include <vector>

#include "training/storage/errors.h"

namespace ablate::exchange {
namespace {

constexpr double kMasked = -1000;

bool is_causal_mask(const torch::Tensor& x) {
  if (x.dim() < 2 || x.size(-1) != x.size(-2)) return false;
  const auto mask = x.reshape({-1, x.size(-2), x.size(-1)}).to(torch::kDouble);
  return torch::equal(mask, torch::ones_like(mask).tril());
}

bool is_counted(const torch::Tensor& x) {
  const auto flat = x.reshape({-1}).to(torch::kLong);
  return torch::equal(flat, torch::arange(flat.size(0)));
}

/// The dimensions of a head that positions turn.
double turned_width(const models::TransformerOptions& options, const models::Rotary& rotary) {
  const auto heads = models::heads_for_positions(options.layer.attention, options.d_model);
  if (!heads) return 0;
  return rotary.fraction * static_cast<double>(heads->d_k.value_or(options.d_model / heads->heads));
}

/// Files that hold frequencies are older than any scaling of them.
bool are_frequencies(const torch::Tensor& x, const models::TransformerOptions& options) {
  constexpr double kRounding = 1e-2;  // of bfloat16, with room
  const auto* rotary = std::get_if<models::Rotary>(&options.layer.position);
  if (rotary == nullptr || x.dim() != 1) return false;
  const auto pairs = static_cast<int64_t>(turned_width(options, *rotary) / 2);
  if (x.size(0) != pairs) return false;
  const auto expected =
      torch::pow(rotary->base, -torch::arange(pairs, torch::kDouble) / static_cast<double>(pairs));
  return torch::allclose(x.to(torch::kDouble), expected, kRounding, 1e-6);
}

bool is_as_listed(const torch::Tensor& x, const std::string& word,
                  const models::TransformerOptions& options) {
  if (word == "causal_mask") return is_causal_mask(x);
  if (word == "frequencies") return are_frequencies(x, options);
  if (word == "masked_score") return x.le(kMasked).all().item<bool>();
  if (word == "positions") return is_counted(x);
  return word == "sinusoids" || word == "other_head" || word == "unread";
}

void require_copy(const Assembly& assembly, const std::string& name, const std::string& of) {
  const auto *copy = assembly.given(name), *original = assembly.given(of);
  if (original != nullptr && copy->sizes() == original->sizes() &&
      copy->eq(*original).all().item<bool>())
    return;
  throw training::CheckpointError(
      fmt::format("{}: in this configuration '{}' is '{}' once more, but their numbers differ, and "
                  "versions of Transformers disagree on which of them counts; change "
                  "tie_word_embeddings, or remove one of them from a copy of the file",
                  assembly.source(), name, of));
}

}  // namespace

void check_unused(const Assembly& assembly, const Words& unused,
                  const models::TransformerOptions& options) {
  Words words;
  for (const auto& [name, word] : unused) words[assembly.name_of(name)] = word;
  std::vector<std::string> left;
  for (const auto& name : assembly.unused()) {
    const auto found = words.find(name);
    if (found == words.end())
      left.push_back(name);
    else if (found->second.find('.') != std::string::npos)
      require_copy(assembly, name, found->second);
    else if (!is_as_listed(*assembly.given(name), found->second, options))
      throw training::CheckpointError(
          fmt::format("{}: '{}' is not what this configuration says ({})", assembly.source(), name,
                      found->second));
  }
  if (left.empty()) return;
  const auto more = left.size() > 5 ? fmt::format(" and {} more", left.size() - 5) : "";
  throw training::CheckpointError(fmt::format("{}: this configuration has no place for {}{}",
                                              assembly.source(),
                                              fmt::join(left | std::views::take(5), ", "), more));
}

}  // namespace ablate::exchange
