#include "experiments/exchange/huggingface/read_huggingface.h"

#include <algorithm>

#include "experiments/exchange/assembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/layouts.h"
#include "experiments/exchange/huggingface/marian_form.h"
#include "experiments/exchange/huggingface/shards.h"
#include "experiments/exchange/huggingface/unused_tensors.h"
#include "models/transformer.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"

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

/// The largest size in any dimension.
int64_t largest_size(const training::Tensors& tensors) {
  int64_t largest = 1;
  for (const auto& [name, tensor] : tensors)
    for (const auto size : tensor.sizes()) largest = std::max(largest, size);
  return largest;
}

bool all_written(const tokenizer::IdMap& ids) {
  for (int32_t id = 0; id < ids.size(); ++id)
    if (!ids.is_written(id)) return false;
  return true;
}

/// The bias of the output with the least of all numbers for ids that are never written.
torch::Tensor never_writing(torch::Tensor bias, const tokenizer::IdMap& ids) {
  for (int32_t id = 0; id < ids.size(); ++id)
    if (!ids.is_written(id)) bias[id] = kNever;
  return bias;
}

}  // namespace

HubCheckpoint read_huggingface(const std::filesystem::path& folder,
                               const TokenizerSpecials& special) {
  const auto file = folder / "config.json";
  const auto fields = parse_config(training::read_bytes(file));
  const auto foreign = read_shards(folder);
  ConfigFields config(fields, file.string(), largest_size(foreign));
  auto model = read_family(config, names_of(foreign));
  const auto tensors = in_our_layout(foreign, model.options, model.pairs_are_neighbours);
  const auto kind = model.options.family;
  if (special.start && kind != models::Family::encoder_decoder) model.special.bos = special.start;
  if (special.end && kind == models::Family::encoder_only) model.special.eos = special.end;
  tokenizer::add_missing(model.special, special.named);
  HubCheckpoint read{.family = model.family,
                     .options = model.options,
                     .special = model.special,
                     .vocabulary = model.vocabulary,
                     .ids = tokenizer::IdMap(model.vocabulary, model.special),
                     .weights = {}};
  const bool has_bias = std::get<models::LmHead>(read.options.output).bias;
  if (!all_written(read.ids)) std::get<models::LmHead>(read.options.output).bias = true;

  const auto& map = family_map(model.family);
  const auto layers = most_layers(read.options);
  const auto origins = with_tying(expanded(map.tensors, layers), ties_output(read.options.tying));
  Assembly assembly(tensors, origins,
                    {.source = folder.string(),
                     .prefix = map.prefix,
                     .heads = models::head_count(read.options.layer.attention),
                     .rows = {read.ids.theirs().begin(), read.ids.theirs().end()}});
  const models::Transformer like(
      read.options, models::Vocabulary{read.ids.size(), read.ids.size(), tokenizer::kPad});
  for (const auto& [name, tensor] : training::weights_of(*like))
    if (name == kOutputBias)
      read.weights[name] = never_writing(
          has_bias ? assembly.make(name, tensor).clone() : torch::zeros_like(tensor), read.ids);
    else
      read.weights[name] = assembly.make(name, tensor);
  if (const auto start =
          map.starts_from_zeros ? start_vector(tensors, read.options) : torch::Tensor();
      start.defined())
    read.weights.at("embedding").add_(start);
  check_unused(assembly, expanded(map.unused, layers), read.options);
  training::require_finite(read.weights, folder.string());
  return read;
}

}  // namespace ablate::exchange
