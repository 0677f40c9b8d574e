#include "experiments/exchange/huggingface/hub_forward.h"

#include "tests/experiments/exchange/huggingface/family_folder.h"
#include "tests/says.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

torch::Tensor tensor_of(const json& rows) {
  std::vector<int64_t> all;
  for (const auto& row : rows)
    for (const auto& one : row) all.push_back(one);
  return torch::tensor(all).view({static_cast<int64_t>(rows.size()), -1});
}

HubInput input_of(const json& model) {
  if (!model.contains("source"))
    return {.ids = tensor_of(model.at("target")), .mask = tensor_of(model.at("target_mask"))};
  return {.ids = tensor_of(model.at("source")),
          .mask = tensor_of(model.at("source_mask")),
          .target = tensor_of(model.at("target"))};
}

/// The largest, NaN if a logit is not a number.
double difference(const torch::Tensor& logits, const json& scores) {
  auto largest = torch::zeros({}, torch::kDouble);
  for (int64_t b = 0; b < logits.size(0); ++b)
    for (int64_t t = 0; t < logits.size(1); ++t) {
      const auto& row = scores[static_cast<size_t>(b)][static_cast<size_t>(t)];
      if (row.is_null()) continue;
      const auto expected = torch::tensor(row.get<std::vector<double>>(), torch::kDouble);
      largest = torch::maximum(largest, (logits[b][t] - expected).abs().max());
    }
  return largest.item<double>();
}

/// The tensors, with Marian's tables of positions, which Transformers leaves out of its files.
training::Tensors whole(const json& model) {
  auto tensors = tensors_of(model);
  if (model.at("config").at("model_type") != "marian") return tensors;
  const int64_t width = model.at("config").at("d_model");
  const auto angle = torch::arange(12, torch::kDouble).unsqueeze(1) *
                     torch::pow(10'000, -torch::arange(0, width, 2, torch::kDouble) / width);
  for (const std::string side : {"encoder", "decoder"})
    tensors["model." + side + ".embed_positions.weight"] =
        torch::cat({angle.sin(), angle.cos()}, 1);
  return tensors;
}

const std::vector<std::string> kWritten{"bert",  "deepseek", "deepseek without a query rank",
                                        "gpt2",  "gpt_neox", "gpt_neox sequential",
                                        "llama", "mamba2",   "marian",
                                        "qwen2", "qwen3",    "smollm",
                                        "t5",    "t5 1.1",   "yarn"};

TEST(HubForward, LogitsAreThoseOfTransformers) {
  for (const auto& name : kWritten) {
    SCOPED_TRACE(name);
    const auto& model = families().at(name);
    const auto logits = hub_logits(model.at("config"), whole(model), input_of(model));
    EXPECT_LT(difference(logits, model.at("scores")), 1e-6);
    auto input = input_of(model);
    input.last = 2;
    const auto last = hub_logits(model.at("config"), whole(model), input);
    EXPECT_TRUE(torch::allclose(last, logits.slice(1, -2), 0, 1e-12));
  }
}

/// What a folder is refused with, or "" if its logits are those of Transformers still.
std::string refusal(const json& model, const training::Tensors& tensors) {
  try {
    const auto logits = hub_logits(model.at("config"), tensors, input_of(model));
    return difference(logits, model.at("scores")) < 1e-6 ? "" : "other logits";
  } catch (const training::CheckpointError& error) {
    return error.what();
  }
}

TEST(HubForward, EveryTensorIsNeededByItsName) {
  for (const auto& name : kWritten) {
    const auto& model = families().at(name);
    const auto all = whole(model);
    for (const auto& [tensor, values] : all) {
      auto tensors = all;
      auto taken = tensors.extract(tensor);
      EXPECT_TRUE(says(refusal(model, tensors), "looks for a tensor '" + tensor + "'")) << name;
      taken.key() = tensor + "s";
      tensors.insert(std::move(taken));
      EXPECT_NE(refusal(model, tensors), "") << name << ": " << tensor;
    }
    auto more = all;
    more["model.odd.bias"] = torch::zeros({1});
    EXPECT_TRUE(says(refusal(model, more), "no place for the tensor 'model.odd.bias'")) << name;
  }
}

TEST(HubForward, AnUntiedBertComputesWithTheBiasOfItsOutput) {
  auto model = families().at("bert");
  auto tensors = tensors_of(model);
  model["config"]["tie_word_embeddings"] = false;
  tensors["cls.predictions.decoder.weight"] = tensors.at("bert.embeddings.word_embeddings.weight");
  EXPECT_TRUE(says(refusal(model, tensors), "'cls.predictions.decoder.bias'"));
  tensors["cls.predictions.decoder.bias"] = tensors.at("cls.predictions.bias");
  EXPECT_EQ(refusal(model, tensors), "");
  tensors["cls.predictions.bias"] = torch::zeros_like(tensors.at("cls.predictions.bias"));
  EXPECT_EQ(refusal(model, tensors), "") << "which is not read";
}

TEST(HubForward, AFieldThatIsMissingOrNotAFamilysIsNamed) {
  auto model = families().at("smollm");
  const auto tensors = tensors_of(model);
  model["config"].erase("rms_norm_eps");
  EXPECT_TRUE(says(refusal(model, tensors), "rms_norm_eps"));
  model["config"]["model_type"] = "opt";
  EXPECT_TRUE(says(refusal(model, tensors), "'opt'"));
}

/// Rates of the channels, in which a missing share of GPT-NeoX is a quarter.
TEST(HubForward, AbsentFieldsAreTransformersDefaults) {
  auto model = families().at("gpt_neox");
  const auto tensors = tensors_of(model);
  model["config"]["rope_parameters"].erase("partial_rotary_factor");
  const auto absent = hub_logits(model.at("config"), tensors, input_of(model));
  model["config"]["rope_parameters"]["partial_rotary_factor"] = 0.25;
  EXPECT_TRUE(torch::equal(absent, hub_logits(model.at("config"), tensors, input_of(model))));
}

}  // namespace
}  // namespace ablate::exchange
