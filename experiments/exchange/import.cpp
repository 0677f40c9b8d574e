#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "experiments/config/document.h"
#include "experiments/config/printer.h"
#include "experiments/errors.h"
#include "experiments/exchange/export.h"
#include "experiments/exchange/format/name_map.h"
#include "training/checkpoint/safetensors.h"
#include "training/weights.h"

namespace ablate::exchange {
namespace {

/// Takes what one of our tensors is made of; `used` collects the foreign names.
class Assembly {
 public:
  Assembly(const training::Tensors& foreign, const Origins& origins, std::string source)
      : foreign_(foreign), origins_(origins), source_(std::move(source)) {}

  torch::Tensor make(const std::string& name, const torch::Tensor& like) {
    const auto found = origins_.find(name);
    const Origin origin = found == origins_.end() ? Origin{{name}, false} : found->second;
    std::vector<torch::Tensor> parts;
    for (const auto& part : origin.names) {
      const auto tensor = foreign_.find(part);
      if (tensor == foreign_.end())
        throw training::CheckpointError(
            fmt::format("{}: has no tensor '{}', which '{}' needs", source_, part, name));
      used_.insert(part);
      parts.push_back(tensor->second);
      check_type(part, tensor->second, name, like);
    }
    check_parts(parts, origin, name, like);
    if (origin.transpose)
      for (auto& part : parts) part = part.t();
    const auto whole = parts.size() == 1 ? parts[0] : torch::cat(parts);
    if (whole.sizes() != like.sizes()) refuse(parts, origin, name, like);
    return whole.to(like.scalar_type()).contiguous();
  }
  int64_t unused() const { return static_cast<int64_t>(foreign_.size() - used_.size()); }

 private:
  [[noreturn]] void refuse(const std::vector<torch::Tensor>& parts, const Origin& origin,
                           const std::string& name, const torch::Tensor& like) const {
    std::vector<std::string> given;
    for (size_t i = 0; i < parts.size(); ++i)
      given.push_back(fmt::format("'{}' {}", origin.names[i], c10::str(parts[i].sizes())));
    throw training::CheckpointError(
        fmt::format("{}: {}{} cannot make '{}', whose shape in this configuration is {}", source_,
                    fmt::join(given, " and "), origin.transpose ? ", transposed," : "", name,
                    c10::str(like.sizes())));
  }

  /// Both hold real numbers, or neither does: whole numbers are no weights, and quantised ones are
  /// none without their scales.
  void check_type(const std::string& part, const torch::Tensor& given, const std::string& name,
                  const torch::Tensor& like) const {
    if (given.is_floating_point() != like.is_floating_point())
      throw training::CheckpointError(
          fmt::format("{}: '{}' holds numbers of the type {}, and '{}' needs {}", source_, part,
                      c10::toString(given.scalar_type()), name, c10::toString(like.scalar_type())));
  }

  /// The parts can be transposed and put one after the other.
  void check_parts(const std::vector<torch::Tensor>& parts, const Origin& origin,
                   const std::string& name, const torch::Tensor& like) const {
    for (const auto& part : parts) {
      const bool transposable = !origin.transpose || part.dim() == 2;
      const bool joinable = parts.size() == 1 || (part.dim() >= 1 && part.dim() == like.dim());
      if (!transposable || !joinable) refuse(parts, origin, name, like);
      const auto row = origin.transpose ? part.t() : part;
      if (parts.size() > 1 && row.sizes().slice(1) != like.sizes().slice(1))
        refuse(parts, origin, name, like);
    }
  }

  const training::Tensors& foreign_;
  const Origins& origins_;
  std::string source_;
  std::set<std::string> used_;
};

}  // namespace

int64_t import_safetensors(const ImportRequest& request) {
  const bool folder = std::filesystem::is_directory(request.from);
  const auto weights = folder ? request.from / "model.safetensors" : request.from;
  const auto config =
      request.config.empty() ? records::RunFolder(request.from).config() : request.config;
  const auto tokenizers = request.tokenizers.empty() ? request.from : request.tokenizers;
  if (!folder && (request.config.empty() || request.tokenizers.empty()))
    throw UsageError("a single file needs --config and --tokenizers beside it");
  const auto experiment = config::read_experiment(config);
  const auto loaded_tokenizers = run::load_tokenizers(tokenizers);
  const auto model = run::make_model(experiment, loaded_tokenizers);
  const auto foreign = training::read_safetensors(weights);
  const auto origins = request.names.empty() ? Origins() : read_origins(request.names);
  Assembly assembly(foreign, origins, weights.string());
  training::Weights taken;
  for (const auto& [name, tensor] : training::weights_of(*model))
    taken[name] = assembly.make(name, tensor);
  training::require_finite(taken, weights.string());
  for (const auto& [name, origin] : origins)
    if (!taken.contains(name))
      throw training::CheckpointError(request.names.string() + ": the model has no weight '" +
                                      name + "'");
  run::write_new_run(
      request.to, {.experiment = experiment,
                   .tokenizers = loaded_tokenizers,
                   .weights = taken,
                   .environment = {{"imported_from", std::filesystem::absolute(weights).string()},
                                   {"data_folder", "."}},
                   .files = {}});
  return assembly.unused();
}

}  // namespace ablate::exchange
