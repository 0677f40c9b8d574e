#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/noise.h"
#include "training/graphs/device_graph.h"
#include "training/pass.h"
#include "training/training_options.h"

namespace ablate::training {

/// Whether passes of such a model can be captured with activations of this type: no operation of
/// them waits for the device, and all of them can be recorded.
bool can_capture(const models::TransformerOptions& options, torch::ScalarType compute_type);

/// The passes of a training as graphs, one for every size of batch, each captured at its first
/// sight after a pass whose results are thrown away. So whether a pass is replayed is a function of
/// its batch alone, and a run that continues computes the same as one that was never interrupted.
/// Gradients are in the same memory after every pass.
class PassGraphs {
 public:
  /// Graphs kept at a time; the one that was longest unused makes room.
  static constexpr size_t kMost = 128;

  /// REQUIRES: every pass has the same type of activations.
  PassGraphs(models::Transformer model, const LossTerms& loss);
  ~PassGraphs();
  PassGraphs(const PassGraphs&) = delete;
  PassGraphs& operator=(const PassGraphs&) = delete;

  /// As forward_backward(), bit for bit, without a launch for every operator. Nullopt if passes of
  /// this size cannot be captured; why() says why, and nothing has changed.
  std::optional<PassOutput> run(const data::Batch& batch, double share,
                                const models::ForwardContext& context);
  /// Why a capture failed, of the last that did; empty if none did.
  const std::string& why() const { return why_; }

 private:
  struct Captured;
  struct Size {
    int64_t rows, source, target;
    double dropout;
    auto operator<=>(const Size&) const = default;
  };

  Captured& captured(const data::Batch& batch, const models::ForwardContext& context);
  std::unique_ptr<Captured> capture(const data::Batch& batch,
                                    const models::ForwardContext& context);
  void make_room();
  /// Lets the gradient of every parameter that a pass gives one lie where graphs expect it.
  void place_gradients();

  models::Transformer model_;
  LossTerms loss_;
  std::vector<torch::Tensor> parameters_;  // that are trained
  std::vector<torch::Tensor> gradients_;   // of them; undefined: a pass gives none
  models::NoiseMemory noise_memory_;
  std::map<Size, std::unique_ptr<Captured>> graphs_;
  int64_t uses_ = 0;
  std::string why_;
};

/// Null if training.graphs is off, the model is not on CUDA, or its passes cannot be captured.
/// Throws DeviceError if this build's part for CUDA cannot be loaded.
std::unique_ptr<PassGraphs> make_graphs(const models::Transformer& model,
                                        const TrainingOptions& options, Precision precision);

}  // namespace ablate::training
