#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "experiments/exchange/format/name_map.h"
#include "models/options/transformer_options.h"
#include "training/checkpoint/safetensors.h"

namespace ablate::exchange {

/// Whether the output is an embedding.
constexpr bool ties_output(models::Tying tying) {
  return tying != models::Tying::none && tying != models::Tying::embeddings;
}

/// The layers of a map for the model: those of the deeper side.
inline int64_t most_layers(const models::TransformerOptions& options) {
  return std::max(models::depth_of(options, models::Side::encoder),
                  models::depth_of(options, models::Side::decoder));
}

/// What assembling depends on besides the tensors and their names.
struct AssemblyOptions {
  std::string source;              // of the tensors, in messages
  std::string prefix = {};         // that names may lack
  int64_t heads = 1;               // of an attention whose tensors are `by_head`
  std::vector<int64_t> rows = {};  // the foreign row of each of our tokens; -1: none, zeros
};

/// Makes our tensors from foreign ones.
class Assembly {
 public:
  Assembly(const training::Tensors& foreign, const Origins& origins, AssemblyOptions options);

  /// The tensor of this name, with shape and type of `like`. Throws CheckpointError, naming what is
  /// missing or does not fit.
  torch::Tensor make(const std::string& name, const torch::Tensor& like);
  /// The foreign tensors that nothing was made of.
  std::vector<std::string> unused() const;
  /// The tensor's name in the file, perhaps without the prefix.
  std::string name_of(const std::string& name) const;
  /// Null if the file does not have it.
  const torch::Tensor* given(const std::string& name) const;
  const std::string& source() const { return options_.source; }

 private:
  const torch::Tensor& find(const std::string& part, const std::string& name);
  torch::Tensor part(const std::string& part, const Origin& origin, const std::string& name,
                     const torch::Tensor& like);
  torch::Tensor by_token(const torch::Tensor& x) const;
  [[noreturn]] void refuse(const std::vector<torch::Tensor>& parts, const Origin& origin,
                           const std::string& name, const torch::Tensor& like) const;
  void check_type(const std::string& part, const torch::Tensor& given, const std::string& name,
                  const torch::Tensor& like) const;

  const training::Tensors& foreign_;
  const Origins& origins_;
  AssemblyOptions options_;
  bool without_prefix_;
  std::set<std::string> used_;
};

}  // namespace ablate::exchange
