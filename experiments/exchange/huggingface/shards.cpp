#include "experiments/exchange/huggingface/shards.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::exchange {
namespace {

using training::CheckpointError;

constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

/// Tensor -> the file that has it.
std::map<std::string, std::string> read_index(const std::filesystem::path& file) {
  try {
    return training::parse_json(training::read_bytes(file)).at("weight_map");
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(
        fmt::format("{}: is no index of shards ({})", file.string(), error.what()));
  }
}

/// The name is that of a file in the folder itself.
void require_plain(const std::string& shard, const std::filesystem::path& index) {
  if (shard.empty() || shard == "." || shard == ".." ||
      std::filesystem::path(shard).filename() != shard)
    throw CheckpointError(
        fmt::format("{}: '{}' is not the name of a file beside it", index.string(), shard));
}

void add_shard(training::Tensors& all, const std::filesystem::path& folder,
               const std::string& shard, const std::map<std::string, std::string>& index) {
  if (!std::filesystem::exists(folder / shard))
    throw CheckpointError(
        fmt::format("{} is missing, which {} names", (folder / shard).string(), kIndex));
  for (auto& [name, tensor] : training::read_safetensors(folder / shard)) {
    const auto place = index.find(name);
    if (place == index.end() || place->second != shard)
      throw CheckpointError(
          fmt::format("{}: has the tensor '{}', which {} {}", (folder / shard).string(), name,
                      kIndex, place == index.end() ? "does not name" : "has in " + place->second));
    all.emplace(name, std::move(tensor));
  }
}

[[noreturn]] void refuse_folder(const std::filesystem::path& folder) {
  const bool pickled = std::filesystem::exists(folder / "pytorch_model.bin") ||
                       std::filesystem::exists(folder / "pytorch_model.bin.index.json");
  throw CheckpointError(
      fmt::format("{}: has no {} and no {}{}", folder.string(), kWhole, kIndex,
                  pickled ? "; a pickle is a program and is not read: save the model once more by "
                            "save_pretrained(..., safe_serialization=True)"
                          : ""));
}

training::Tensors stored_tensors(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / kWhole)) return training::read_safetensors(folder / kWhole);
  if (!std::filesystem::exists(folder / kIndex)) refuse_folder(folder);
  const auto index = read_index(folder / kIndex);
  std::set<std::string> shards;
  for (const auto& [name, shard] : index) {
    require_plain(shard, folder / kIndex);
    shards.insert(shard);
  }
  training::Tensors all;
  for (const auto& shard : shards) add_shard(all, folder, shard, index);
  for (const auto& [name, shard] : index)
    if (!all.contains(name))
      throw CheckpointError(fmt::format("{}: has no tensor '{}', which {} has in it",
                                        (folder / shard).string(), name, kIndex));
  return all;
}

/// The first BERT files, bert-base-uncased's among them, name the numbers of a norm otherwise. A
/// tensor whose name of today is another's keeps its own, which has no place then.
training::Tensors with_names_of_today(const training::Tensors& tensors) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}};
  training::Tensors current;
  for (const auto& [name, tensor] : tensors) {
    auto now = name;
    for (const auto& [older, today] : kNames)
      if (name.ends_with(older)) now.replace(name.size() - older.size(), older.size(), today);
    current[tensors.contains(now) ? name : now] = tensor;
  }
  return current;
}

}  // namespace

training::Tensors read_shards(const std::filesystem::path& folder) {
  return with_names_of_today(stored_tensors(folder));
}

}  // namespace ablate::exchange
