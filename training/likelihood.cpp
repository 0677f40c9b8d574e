#include "training/likelihood.h"

#include <cmath>

#include "data/batching.h"
#include "tokenizer/special_ids.h"
#include "training/update.h"

namespace ablate::training {
namespace {

constexpr uint64_t kMaskSeed = 1;

}  // namespace

double Likelihood::perplexity() const { return std::exp(negative); }

Likelihood likelihood(models::Transformer& model, std::span<const data::EncodedExample> examples,
                      const LikelihoodOptions& options) {
  torch::NoGradGuard no_grad;
  const auto device = model->output_weight().device();
  const auto sums = torch::zeros({2}, torch::TensorOptions(torch::kDouble).device(device));
  Likelihood result;
  data::Random random(kMaskSeed, "likelihood");
  for (const auto& indices : data::ordered_plan(examples, options.tokens_per_batch)) {
    auto batch = data::collate(examples, indices);
    if (options.masking) data::mask(batch, *options.masking, random);
    const auto tensors = to_tensors(batch, device);
    const auto logits = model->forward(tensors.source, tensors.target_in).flatten(0, 1);
    const auto target = tensors.target_out.flatten();  // [N]
    const auto real = target.ne(tokenizer::kPad);
    const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
    const auto chosen =
        torch::log_softmax(logits, -1, wide).gather(1, target.unsqueeze(1)).squeeze(1);
    sums[0] -= chosen.masked_fill(real.logical_not(), 0.0).sum(torch::kDouble);
    sums[1] += logits.argmax(-1).eq(target).logical_and(real).sum().to(torch::kDouble);
    result.tokens += batch.tokens;
  }
  const auto read = sums.cpu();
  const auto count = static_cast<double>(std::max<int64_t>(result.tokens, 1));
  result.negative = read[0].item<double>() / count;
  result.token_accuracy = read[1].item<double>() / count;
  return result;
}

}  // namespace ablate::training
