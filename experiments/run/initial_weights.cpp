#include "experiments/run/initial_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tokenizer/text/digest.h"

namespace ablate::run {
namespace {

constexpr size_t kDigestLength = 16;

}  // namespace

records::InitialWeights initial_weights_of(const torch::nn::Module& model) {
  records::InitialWeights weights;
  for (const auto& item : model.named_parameters()) {
    const auto values = item.value().detach().cpu().contiguous();
    tokenizer::Digest digest;
    digest.add(fmt::format("{} {}\n", item.key(), fmt::join(values.sizes(), " ")));
    digest.add({static_cast<const char*>(values.const_data_ptr()), values.nbytes()});
    weights[digest.sha256().substr(0, kDigestLength)] = values.numel();
  }
  return weights;
}

}  // namespace ablate::run
