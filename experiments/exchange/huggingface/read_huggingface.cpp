#include "experiments/exchange/huggingface/read_huggingface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "experiments/exchange/assembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/layouts.h"
#include "experiments/exchange/huggingface/marian_form.h"
#include "experiments/exchange/huggingface/shards.h"
#include "models/transformer.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::exchange {
namespace {

/// The logit of what is never written: its probability is 0 in float32.
constexpr double kNever = -1e4;

constexpr const char* kOutputBias = "output_bias";

std::set<std::string> names_of(const training::Tensors& tensors) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) names.insert(name);
  return names;
}

bool all_written(const tokenizer::IdMap& ids) {
  for (int32_t id = 0; id < ids.size(); ++id)
    if (!ids.is_written(id)) return false;
  return true;
}

/// The foreign row of each of our tokens; -1: it has none.
std::vector<int64_t> foreign_rows(const tokenizer::IdMap& ids) {
  std::vector<int64_t> rows;
  for (int32_t id = 0; id < ids.size(); ++id) rows.push_back(ids.theirs(id).value_or(-1));
  return rows;
}

int64_t heads_of(const models::TransformerOptions& options) {
  const auto* heads = std::get_if<models::MultiHead>(&options.attention);
  return heads == nullptr ? 1 : heads->heads;
}

int64_t most_layers(const models::TransformerOptions& options) {
  return std::max(models::depth_of(options, models::Side::encoder),
                  models::depth_of(options, models::Side::decoder));
}

/// The bias of the output, in which ids that are never written have the least of all.
torch::Tensor output_bias(Assembly& assembly, const tokenizer::IdMap& ids,
                          const torch::Tensor& like) {
  auto bias = assembly.can_make(kOutputBias) ? assembly.make(kOutputBias, like).clone()
                                             : torch::zeros_like(like);
  for (int32_t id = 0; id < ids.size(); ++id)
    if (!ids.is_written(id)) bias[id] = kNever;
  return bias;
}

void require_all_used(const Assembly& assembly, const FamilyMap& map, int64_t layers,
                      const std::string& source) {
  const auto known = expanded(map.unused, layers);
  std::vector<std::string> left;
  for (const auto& name : assembly.unused())
    if (std::ranges::find(known, name) == known.end() &&
        std::ranges::find(known, map.prefix + name) == known.end())
      left.push_back(name);
  if (left.empty()) return;
  const auto more = left.size() > 5 ? fmt::format(" and {} more", left.size() - 5) : "";
  throw training::CheckpointError(fmt::format("{}: this configuration has no place for {}{}",
                                              source, fmt::join(left | std::views::take(5), ", "),
                                              more));
}

}  // namespace

HubCheckpoint read_huggingface(const std::filesystem::path& folder,
                               const tokenizer::SpecialIds& special) {
  const auto file = folder / "config.json";
  ConfigFields config(training::parse_json(training::read_bytes(file)), file.string());
  const auto foreign = read_shards(folder);
  auto model = read_family(config, names_of(foreign));
  const auto tensors = in_our_layout(foreign, model.options, model.pairs_are_neighbours);
  tokenizer::add_missing(model.special, special);
  HubCheckpoint read{.family = model.family,
                     .options = model.options,
                     .special = model.special,
                     .vocabulary = model.vocabulary,
                     .ids = tokenizer::IdMap(model.vocabulary, model.special),
                     .weights = {}};
  if (!all_written(read.ids)) std::get<models::LmHead>(read.options.output).bias = true;

  const auto map = family_map(model.family);
  const auto layers = most_layers(read.options);
  const auto origins = expanded(map.tensors, layers);
  Assembly assembly(tensors, origins,
                    {.source = folder.string(),
                     .prefix = map.prefix,
                     .heads = heads_of(read.options),
                     .rows = foreign_rows(read.ids)});
  const models::Transformer like(
      read.options, models::Vocabulary{read.ids.size(), read.ids.size(), tokenizer::kPad});
  for (const auto& [name, tensor] : training::weights_of(*like))
    read.weights[name] =
        name == kOutputBias ? output_bias(assembly, read.ids, tensor) : assembly.make(name, tensor);
  if (const auto start =
          model.family == "marian" ? start_vector(tensors, read.options) : torch::Tensor();
      start.defined())
    read.weights.at("embedding").add_(start);
  require_all_used(assembly, map, layers, folder.string());
  training::require_finite(read.weights, folder.string());
  return read;
}

}  // namespace ablate::exchange
