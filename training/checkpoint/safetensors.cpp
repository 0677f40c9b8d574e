#include "training/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "training/checkpoint/format/safetensors_header.h"
#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

torch::ScalarType scalar_type(const ElementType& type) {
  constexpr std::array kOfElements{torch::kFloat64, torch::kInt64,   torch::kFloat32,
                                   torch::kInt32,   torch::kFloat16, torch::kBFloat16,
                                   torch::kUInt8,   torch::kBool};
  static_assert(kOfElements.size() == kElementTypes.size());
  return kOfElements.at(static_cast<size_t>(type.element));
}

/// A tensor on its way into a file.
struct Stored {
  const std::string* name;
  torch::Tensor values;  // on the CPU, contiguous
  ElementType type;
};

Stored prepare(const std::string& name, const torch::Tensor& tensor) {
  if (!valid_tensor_name(name))
    throw CheckpointError(fmt::format("'{}' is no name for a tensor in a checkpoint", name));
  const auto type = std::ranges::find(kElementTypes, tensor.scalar_type(), scalar_type);
  if (type == kElementTypes.end() || tensor.layout() != torch::kStrided ||
      tensor.dim() > static_cast<int64_t>(kMaximumDimensions))
    throw CheckpointError(
        fmt::format("a checkpoint cannot hold '{}': its type, layout or number of dimensions is "
                    "not one of safetensors'",
                    name));
  return {&name, tensor.detach().to(torch::kCPU).contiguous(), *type};
}

/// Larger elements first, as the format's own writer has it: every tensor is then aligned.
std::vector<Stored> prepare(const Tensors& tensors) {
  std::vector<Stored> all;
  for (const auto& [name, tensor] : tensors) all.push_back(prepare(name, tensor));
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const Stored& stored) { return stored.type.bytes; });
  return all;
}

std::string header_of(const std::vector<Stored>& all,
                      const std::map<std::string, std::string>& metadata) {
  auto header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t offset = 0;
  for (const auto& stored : all) {
    const auto begin = offset;
    offset += stored.values.nbytes();
    header[*stored.name] = {{"dtype", stored.type.name},
                            {"shape", stored.values.sizes().vec()},
                            {"data_offsets", {begin, offset}}};
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kMaximumHeaderBytes || all.size() > kMaximumTensors)
    throw CheckpointError(fmt::format("{} tensors are too many for one file", all.size()));
  return text;
}

torch::Tensor read_tensor(const TensorEntry& entry, std::string_view data,
                          const std::string& source) {
  const auto bytes = data.substr(entry.begin, entry.end - entry.begin);
  if (entry.type.element == Element::boolean &&
      !std::ranges::all_of(bytes, [](char byte) { return byte == 0 || byte == 1; }))
    throw CheckpointError(
        fmt::format("'{}': '{}' has a byte that is neither true nor false", source, entry.name));
  auto tensor = torch::empty(entry.shape, scalar_type(entry.type));
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

std::string to_safetensors(const Tensors& tensors,
                           const std::map<std::string, std::string>& metadata) {
  const auto all = prepare(tensors);
  const auto header = header_of(all, metadata);
  const uint64_t header_bytes = header.size();
  size_t data_bytes = 0;
  for (const auto& stored : all) data_bytes += stored.values.nbytes();
  std::string bytes;
  bytes.reserve(sizeof header_bytes + header.size() + data_bytes);
  bytes.append(reinterpret_cast<const char*>(&header_bytes), sizeof header_bytes);
  bytes += header;
  for (const auto& stored : all)
    bytes.append(static_cast<const char*>(stored.values.const_data_ptr()), stored.values.nbytes());
  return bytes;
}

Tensors from_safetensors(std::string_view bytes, const std::string& source) {
  const auto layout = parse_safetensors(bytes, source);
  Tensors tensors;
  for (const auto& entry : layout.entries)
    tensors.emplace(entry.name, read_tensor(entry, layout.data, source));
  return tensors;
}

Tensors read_safetensors(const std::filesystem::path& path) {
  return from_safetensors(read_bytes(path), path.string());
}

}  // namespace ablate::training
