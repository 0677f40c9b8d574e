#pragma once

#include <string>
#include <vector>

#include "models/initialization.h"
#include "models/libtorch.h"

namespace ablate::models {

struct StackOptions;

/// The kind of a parameter to an optimizer. Vectors have no weight decay, and Muon updates
/// matrices.
enum class Role {
  embedding,  // tables of tokens or positions, and maps of positions
  matrix,     // linear maps within a layer
  gate,    // maps whose number of outputs does not grow with the width: router scores, head gates
  output,  // the projection to the vocabulary, unless it is tied to an embedding
  vector,  // biases, norms, gains, short convolutions
};

/// Whether it is a linear map within a layer.
constexpr bool is_linear_map(Role role) { return role == Role::matrix || role == Role::gate; }

/// Linear maps whose matrices are stacked in a tensor with its leading dimensions flattened. A
/// matrix has a row for each output or, transposed, for each input.
struct Maps {
  std::vector<int64_t> rows;
  bool transposed = false;
};

/// A module whose parameters have a stated initial distribution. Until `initialize` draws them or a
/// checkpoint is loaded, random tensors hold NaN.
class Module : public torch::nn::Module {
 public:
  struct Parameter {
    std::string name;
    torch::Tensor tensor;
    Initializer initializer;
    Role role;
    Maps maps;
    double width = 1;  // the base width over the model's, for maps that read a whole width
  };
  struct Buffer {
    std::string name;
    torch::Tensor tensor;
    Initializer initializer;
  };

  // These replace torch's own, which take no distribution.
  torch::Tensor register_parameter(const std::string& name, torch::IntArrayRef shape,
                                   const Initializer& initializer, Role role);
  torch::Tensor register_buffer(const std::string& name, torch::IntArrayRef shape,
                                const Initializer& initializer);
  /// A buffer of fixed values.
  torch::Tensor register_buffer(const std::string& name, const torch::Tensor& values);

  const std::vector<Parameter>& own_parameters() const { return own_parameters_; }
  const std::vector<Buffer>& random_buffers() const { return random_buffers_; }

  /// A hash of the module's full name in its model; all randomness of the module in a pass is drawn
  /// from the pass's seed and this.
  uint64_t site() const { return site_; }

 protected:
  std::vector<Parameter> own_parameters_;

 private:
  friend void assign_sites(torch::nn::Module& model);
  friend void parametrize(torch::nn::Module& stack, const StackOptions& options);

  std::vector<Buffer> random_buffers_;
  uint64_t site_ = 0;
};

/// While it lives, the tensors of modules that are made on this thread are on LibTorch's meta
/// device: they have shapes and no values.
class ShapesOnly {
 public:
  ShapesOnly();
  ~ShapesOnly();
  ShapesOnly(const ShapesOnly&) = delete;
  ShapesOnly& operator=(const ShapesOnly&) = delete;

 private:
  bool before_;
};

/// Sets the sites of all modules below `model`. A model calls it when it is complete.
void assign_sites(torch::nn::Module& model);

}  // namespace ablate::models
