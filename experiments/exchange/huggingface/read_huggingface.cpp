#include "experiments/exchange/huggingface/read_huggingface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "experiments/exchange/assembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
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

void add_missing(SpecialIds& ids, const SpecialIds& more) {
  const auto fill = [](auto& id, const auto& other) {
    if (!id) id = other;
  };
  fill(ids.pad, more.pad);
  fill(ids.bos, more.bos);
  fill(ids.eos, more.eos);
  fill(ids.unk, more.unk);
  fill(ids.mask, more.mask);
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
torch::Tensor output_bias(Assembly& assembly, const VocabularyMap& vocabulary,
                          const torch::Tensor& like) {
  auto bias = assembly.can_make(kOutputBias) ? assembly.make(kOutputBias, like).clone()
                                             : torch::zeros_like(like);
  for (int64_t id = 0; id < vocabulary.size(); ++id)
    if (!vocabulary.written[static_cast<size_t>(id)]) bias[id] = kNever;
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

HubCheckpoint read_huggingface(const std::filesystem::path& folder, const SpecialIds& special) {
  const auto file = folder / "config.json";
  ConfigFields config(training::parse_json(training::read_bytes(file)), file.string());
  const auto tensors = read_shards(folder);
  auto model = read_family(config, names_of(tensors));
  add_missing(model.special, special);
  HubCheckpoint read{.options = model.options,
                     .vocabulary = map_vocabulary(model.special, model.vocabulary),
                     .weights = {}};
  if (read.vocabulary.suppresses()) std::get<models::LmHead>(read.options.output).bias = true;

  const auto map = family_map(model.family);
  const auto layers = most_layers(read.options);
  const auto origins = expanded(map.tensors, layers);
  Assembly assembly(tensors, origins,
                    {.source = folder.string(),
                     .prefix = map.prefix,
                     .heads = heads_of(read.options),
                     .rows = read.vocabulary.foreign});
  const models::Transformer like(
      read.options,
      models::Vocabulary{read.vocabulary.size(), read.vocabulary.size(), tokenizer::kPad});
  for (const auto& [name, tensor] : training::weights_of(*like))
    read.weights[name] = name == kOutputBias ? output_bias(assembly, read.vocabulary, tensor)
                                             : assembly.make(name, tensor);
  require_all_used(assembly, map, layers, folder.string());
  training::require_finite(read.weights, folder.string());
  return read;
}

}  // namespace ablate::exchange
