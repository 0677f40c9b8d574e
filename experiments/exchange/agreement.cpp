#include "experiments/exchange/agreement.h"

#include <fmt/format.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/runtime/jit_exception.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/batch.h"
#include "models/inference/search.h"
#include "tokenizer/special_tokens.h"
#include "training/update.h"

namespace ablate::exchange {
namespace {

constexpr int64_t kBeams = 4;
constexpr int64_t kLongestOutput = 48;
constexpr double kScoreRounding = 1e-3;  // of the largest logit
/// Above the logits of tokens that an imported model never writes.
constexpr double kSuppressed = -5e3;

struct Inputs {
  torch::Tensor source, target;  // target undefined if the family reads one sequence
};

Inputs inputs_of(models::Family family, const ExportExamples& examples, std::vector<int64_t> rows) {
  const auto tensors = training::to_tensors(data::collate(examples, rows), torch::kCPU);
  if (family == models::Family::encoder_decoder) return {tensors.source, tensors.target_in};
  return {family == models::Family::decoder_only ? tensors.target_in : tensors.source, {}};
}

Inputs halved(const Inputs& inputs) {
  const auto half = [](const torch::Tensor& x) {
    return x.defined() ? x.slice(1, 0, (x.size(1) + 1) / 2) : x;
  };
  return {half(inputs.source), half(inputs.target)};
}

torch::Tensor logits_of(torch::jit::Module& module, const Inputs& inputs) {
  return (inputs.target.defined() ? module.forward({inputs.source, inputs.target})
                                  : module.forward({inputs.source}))
      .toTensor()
      .to(torch::kFloat);
}

std::vector<int64_t> ids_of(const torch::Tensor& row) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < row.size(0) && row[i].item<int64_t>() != tokenizer::kPad; ++i)
    ids.push_back(row[i].item<int64_t>());
  return ids;
}

void add_logits(Agreement& agreement, const torch::Tensor& expected, const torch::Tensor& found) {
  const auto finite = expected.isfinite().logical_and(found.isfinite());
  const auto suppressed = expected.lt(kSuppressed).logical_and(found.lt(kSuppressed));
  const auto compared = finite.logical_and(suppressed.logical_not());
  const auto difference = (found - expected).abs().where(compared, 0);
  agreement.logits = std::max(agreement.logits, difference.max().item<double>());
  agreement.scale =
      std::max(agreement.scale, expected.abs().where(compared, 0).max().item<double>());
  agreement.not_finite += finite.logical_not().sum().item<int64_t>();
}

void compare_logits(Agreement& agreement, models::Transformer& model, torch::jit::Module& module,
                    const Inputs& inputs) {
  const auto expected =
      model->forward(inputs.source, inputs.target.defined() ? inputs.target : inputs.source)
          .to(torch::kFloat);
  // Logits at padding are not compared.
  const auto read = inputs.target.defined() ? inputs.target : inputs.source;
  const auto padding_mask = read.ne(tokenizer::kPad).unsqueeze(-1);
  const auto counts = expected.size(1) == padding_mask.size(1)
                          ? padding_mask
                          : torch::ones_like(padding_mask.slice(1, 0, 1));
  add_logits(agreement, expected.where(counts, 0), logits_of(module, inputs).where(counts, 0));
  ++agreement.inputs;
}

using Start = std::optional<models::TokenId>;

/// The logits of every row's first token, from which both searches begin.
void compare_first_logits(Agreement& agreement, models::Transformer& model,
                          torch::jit::Module& module, const torch::Tensor& source,
                          const Start& start) {
  auto target = source;
  if (start) target = torch::full({source.size(0), 1}, start->value, torch::kLong);
  if (start && model->family() == models::Family::decoder_only)
    target = torch::cat({target, source}, 1);
  const auto expected = model->forward(source, target).select(1, -1).to(torch::kFloat);
  const auto found = module.get_method("begin")({source}).toTupleRef().elements()[0].toTensor();
  add_logits(agreement, expected, found.to(torch::kFloat));
}

/// The output of the module's own search; nullopt if it refuses, for example because scores are
/// NaN.
std::optional<c10::IValue> searched(torch::jit::Module& module, const torch::Tensor& source,
                                    int64_t beams) {
  try {
    return beams == 1 ? module.get_method("greedy")({source, kLongestOutput})
                      : module.get_method("beam")({source, beams, 1.0, kLongestOutput});
  } catch (const torch::jit::JITException&) {
    return {};
  }
}

void compare_search(Agreement& agreement, const models::InferenceModel& model,
                    torch::jit::Module& module, const torch::Tensor& source, const Start& start,
                    std::span<const int64_t> unwritten) {
  // The module's search ends with the model's positions by itself.
  const int64_t room =
      module.attr("longest").toInt() - module.attr("prompt").toInt() * source.size(1);
  const int64_t longest = std::min(kLongestOutput, room);
  for (const int64_t beams : {int64_t{1}, kBeams}) {
    const auto expected = models::search(model,
                                         {.source = source,
                                          .tokens = {.pad = tokenizer::kPad,
                                                     .bos = tokenizer::kBos,
                                                     .eos = tokenizer::kEos,
                                                     .start = start},
                                          .unwritten = unwritten},
                                         {.beam = beams, .max_length = longest});
    const auto found = searched(module, source, beams);
    if (!found) {
      agreement.searched += std::ssize(expected);
      agreement.different += std::ssize(expected);
      continue;
    }
    const auto ids = found->toTupleRef().elements()[0].toTensor();
    const auto scores = found->toTupleRef().elements()[1].toTensor();
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const double score = scores[row].item<double>();
      ++agreement.searched;
      if (ids_of(ids[row]) != expected[i].ids ||
          !(std::abs(score - expected[i].score) <= kScoreRounding * agreement.scale))
        ++agreement.different;
    }
  }
}

/// The id before the first one in training, if there is one, which a search must start from.
Start trained_start(const ExportExamples& examples) {
  if (!examples.front().started) return {};
  return data::collate(examples, std::vector<int64_t>{0}).target_in.front();
}

/// The inputs of a search: sources, or beginnings of sequences, one per batch.
std::vector<torch::Tensor> prompts(models::Family family, const ExportExamples& examples) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < examples.size(); ++i) rows.push_back(static_cast<int64_t>(i));
  if (family == models::Family::encoder_decoder)
    return {inputs_of(family, examples, rows).source, inputs_of(family, examples, {0}).source};
  std::vector<torch::Tensor> all;
  for (const int64_t row : rows) {
    const auto& example = examples[static_cast<size_t>(row)];
    const auto whole = inputs_of(family, examples, {row}).source;  // [1, T], the start token first
    const int64_t begin = example.started ? 1 : 0;
    const int64_t length =
        std::max<int64_t>(example.prompt_length, std::min<int64_t>(whole.size(1) / 2, 32));
    all.push_back(whole.slice(1, begin, std::min(whole.size(1), begin + length)));
  }
  return all;
}

}  // namespace

Agreement compare(models::Transformer& model, torch::jit::Module& module,
                  const ExportContents& contents) {
  const torch::NoGradGuard no_grad;
  const auto family = contents.experiment.model.family;
  const auto& examples = contents.examples;
  Agreement agreement;
  auto frozen = torch::jit::freeze(module.clone());
  std::vector<int64_t> all;
  for (size_t i = 0; i < examples.size(); ++i) all.push_back(static_cast<int64_t>(i));
  for (const auto& rows : {all, std::vector<int64_t>{0}, std::vector<int64_t>{all.back()}}) {
    const auto whole = inputs_of(family, examples, rows);
    for (const auto& inputs : {whole, halved(whole)}) {
      compare_logits(agreement, model, module, inputs);
      compare_logits(agreement, model, frozen, inputs);
    }
  }
  if (family == models::Family::encoder_only) return agreement;
  const models::InferenceModel inference(model);
  const auto start = trained_start(examples);
  const auto unwritten = config::format_of(contents.experiment).unwritten();
  for (const auto& source : prompts(family, examples)) {
    compare_first_logits(agreement, model, module, source, start);
    compare_search(agreement, inference, module, source, start, unwritten);
  }
  return agreement;
}

bool agrees(const Agreement& agreement, torch::ScalarType type) {
  if (agreement.not_finite > 0) return false;
  if (type == torch::kBFloat16) return agreement.logits <= agreement.scale / 20;
  return agreement.logits <= 1e-4 * agreement.scale && agreement.different == 0;
}

std::string to_text(const Agreement& agreement) {
  auto text = fmt::format("{} inputs: largest difference of a logit {:.1e} (largest logit {:.1f})",
                          agreement.inputs, agreement.logits, agreement.scale);
  if (agreement.not_finite > 0)
    text += fmt::format("; {} logits are not finite", agreement.not_finite);
  if (agreement.searched > 0)
    text += fmt::format("; {} greedy and beam searches, {} with other ids or scores",
                        agreement.searched, agreement.different);
  return text;
}

}  // namespace ablate::exchange
