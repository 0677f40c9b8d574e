#include "experiments/initial_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tokenizer/digest.h"
#include "training/checkpoint/durable_file.h"

namespace ablate::experiments {
namespace {

constexpr size_t kDigestLength = 16;

}  // namespace

InitialWeights initial_weights_of(const torch::nn::Module& model) {
  InitialWeights weights;
  for (const auto& item : model.named_parameters()) {
    const auto values = item.value().detach().cpu().contiguous();
    tokenizer::Digest digest;
    digest.add(fmt::format("{} {}\n", item.key(), fmt::join(values.sizes(), " ")));
    digest.add({static_cast<const char*>(values.const_data_ptr()), values.nbytes()});
    weights[digest.sha256().substr(0, kDigestLength)] = values.numel();
  }
  return weights;
}

void write_initial_weights(const RunFolder& folder, const torch::nn::Module& model) {
  training::write_durably(folder.initial_weights(),
                          nlohmann::json(initial_weights_of(model)).dump() + "\n");
}

InitialWeights read_initial_weights(const RunFolder& folder) {
  if (!std::filesystem::exists(folder.initial_weights())) return {};
  return nlohmann::json::parse(training::read_bytes(folder.initial_weights()))
      .get<InitialWeights>();
}

}  // namespace ablate::experiments
