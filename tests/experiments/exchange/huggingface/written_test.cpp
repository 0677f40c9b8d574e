#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/disassembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/read_huggingface.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "models/initialization.h"
#include "models/random.h"
#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/training/folder_test_case.h"
#include "tokenizer/special_tokens.h"
#include "training/checkpoint/safetensors.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

using models::MultiHead;

constexpr int64_t kVocabulary = 30;
constexpr tokenizer::SpecialIds kSpecial{
    .pad = tokenizer::kPad, .bos = tokenizer::kBos, .eos = tokenizer::kEos, .unk = tokenizer::kUnk};

models::TransformerOptions small(models::Family family) {
  models::TransformerOptions o;
  o.family = family;
  o.d_model = 16;
  o.layers = 2;
  o.attention = MultiHead{.heads = 4};
  o.feed_forward = models::DenseFeedForward{.d_hidden = 24};
  o.dropout = 0;
  return o;
}

models::TransformerOptions llama_like() {
  auto o = small(models::Family::decoder_only);
  o.attention = MultiHead{.heads = 4, .key_value_heads = 2};
  o.feed_forward = models::DenseFeedForward{
      .d_hidden = 24, .activation = models::Activation::silu, .gated = true};
  o.position = models::Rotary{};
  o.norm = {.kind = models::NormKind::rms, .placement = models::NormPlacement::pre};
  o.bias = o.embedding_scale = false;
  return o;
}

models::Transformer random_model(const models::TransformerOptions& options) {
  models::Transformer model(options, models::Vocabulary{kVocabulary, kVocabulary, tokenizer::kPad});
  models::initialize(*model, 3);
  const torch::NoGradGuard no_grad;  // biases and norms start alike
  for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * 0.1);
  return model;
}

class WrittenFamilies : public training::FolderTestCase {
 protected:
  /// The model, written for Transformers and read again.
  models::Transformer read_again(const models::Transformer& model, const WrittenFamily& written) {
    auto weights = training::weights_of(*model);
    if (written.separates_sines) weights = with_separate_sines(weights);
    if (written.family == "marian") weights.emplace("output_bias", torch::zeros({kVocabulary}));
    const auto map = expanded(family_map(written.family).tensors, 2);
    training::write_durably(folder() / "config.json", written.config.dump());
    training::write_durably(folder() / "model.safetensors",
                            training::to_safetensors(disassembled(weights, map, model->options())));
    const auto read = read_huggingface(folder(), {.unk = tokenizer::kUnk});
    models::Transformer again(read.options,
                              models::Vocabulary{kVocabulary, kVocabulary, tokenizer::kPad});
    training::load_weights(*again, read.weights);
    return again;
  }
  /// The architecture as which it is written; its logits must be the model's.
  std::string written_as(const models::TransformerOptions& options) {
    torch::manual_seed(1);
    auto model = random_model(options);
    const auto written = write_family(options, kVocabulary, kSpecial);
    auto again = read_again(model, written);
    const torch::NoGradGuard no_grad;
    const auto source = torch::arange(14).view({2, 7}) + 5, target = source + 2;
    EXPECT_LT(
        models::largest_difference(model->forward(source, target), again->forward(source, target)),
        1e-5);
    return written.config.at("architectures").at(0);
  }
};

TEST_F(WrittenFamilies, ComputeWhatTheModelsCompute) {
  auto llama = llama_like();
  EXPECT_EQ(written_as(llama), "LlamaForCausalLM");
  auto& heads = std::get<MultiHead>(llama.attention);
  heads.qkv_bias = true;
  EXPECT_EQ(written_as(llama), "Qwen2ForCausalLM");
  heads = {.heads = 4, .d_k = 6, .d_v = 6, .key_value_heads = 2, .qk_norm = models::QkNorm::rms};
  EXPECT_EQ(written_as(llama), "Qwen3ForCausalLM");

  auto gpt = small(models::Family::decoder_only);
  gpt.position = models::Learned{.max_length = 20};
  gpt.norm.placement = models::NormPlacement::pre;
  gpt.embedding_scale = false;
  EXPECT_EQ(written_as(gpt), "GPT2LMHeadModel");
  gpt.position = models::Rotary{.fraction = 0.5};
  gpt.block = models::Block::parallel_norms;
  gpt.tying = models::Tying::none;
  EXPECT_EQ(written_as(gpt), "GPTNeoXForCausalLM");

  auto bert = small(models::Family::encoder_only);
  bert.position = models::Learned{.max_length = 20};
  bert.embedding_norm = models::EmbeddingNorm::layer;
  bert.embedding_scale = false;
  bert.output = models::LmHead{{}, true, models::Activation::gelu};
  bert.feed_forward =
      models::DenseFeedForward{.d_hidden = 24, .activation = models::Activation::gelu};
  EXPECT_EQ(written_as(bert), "BertForMaskedLM");
}

TEST_F(WrittenFamilies, LatentAttentionIsDeepSeeksAndMamba2ItsOwn) {
  auto o = llama_like();
  o.norm.epsilon = 1e-6;
  o.tying = models::Tying::none;
  for (const std::optional<int64_t> query_rank : {std::optional<int64_t>(), {6}}) {
    o.attention = models::Latent{.heads = 4, .query_rank = query_rank, .d_k = 3, .shared_d_k = 4};
    EXPECT_EQ(written_as(o), "DeepseekV3ForCausalLM");
  }
  o.position = models::Rotary{.scaling = models::YarnScaling{.factor = 4, .trained_length = 3}};
  EXPECT_EQ(written_as(o), "DeepseekV3ForCausalLM");
  o.attention = models::Mamba2{.heads = 4, .state_size = 5};
  o.feed_forward = models::NoFeedForward{};
  o.position = models::NoPosition{};
  EXPECT_EQ(written_as(o), "Mamba2ForCausalLM");
}

TEST_F(WrittenFamilies, TheVanillaTransformerIsMarians) {
  EXPECT_EQ(written_as(small(models::Family::encoder_decoder)), "MarianMTModel");
  auto t5 = small(models::Family::encoder_decoder);
  t5.attention = MultiHead{.heads = 4, .scale = {.value = 1}};
  t5.position = models::T5Bias{.buckets = 8, .max_distance = 20};
  t5.norm = {
      .kind = models::NormKind::rms, .placement = models::NormPlacement::pre, .epsilon = 1e-6};
  t5.bias = t5.embedding_scale = false;
  t5.output = models::LmHead{{.scale = 0.25}};
  EXPECT_EQ(written_as(t5), "T5ForConditionalGeneration");
}

TEST_F(WrittenFamilies, AModelThatNoFamilyComputesIsRefusedByItsFirstKey) {
  const auto refusal = [](const models::TransformerOptions& options) -> std::string {
    try {
      write_family(options, kVocabulary, kSpecial);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  auto o = llama_like();
  std::get<MultiHead>(o.attention).softcap = 30;
  EXPECT_NE(refusal(o).find("the nearest is LlamaForCausalLM, but model.attention.softcap is 30"),
            std::string::npos)
      << refusal(o);
  o = llama_like();
  o.position = models::Alibi{};
  EXPECT_NE(refusal(o).find("model.position.kind is alibi here and rotary there"),
            std::string::npos)
      << refusal(o);
  o = llama_like();
  o.canon.places = {models::CanonPlace::attention};
  models::own_layers(o, models::Side::decoder);  // a list of layers that are alike
  EXPECT_NE(refusal(o).find("model.canon.places is [a] here and [] there"), std::string::npos)
      << refusal(o);
  o = llama_like();
  for (auto& layer : models::own_layers(o, models::Side::decoder))
    layer.ngrams = models::HashedNgrams{};
  EXPECT_NE(refusal(o).find("model.ngrams.kind is hashed here and none there"), std::string::npos)
      << refusal(o);
  auto pair = small(models::Family::encoder_decoder);
  for (auto& layer : models::own_layers(pair, models::Side::decoder))
    layer.cross_attention = models::NoAttention{};
  EXPECT_NE(refusal(pair).find("model.cross_attention.kind is none here"), std::string::npos)
      << refusal(pair);
  auto latent = llama_like();
  latent.attention = models::Latent{.heads = 4};
  EXPECT_NE(refusal(latent).find("the nearest is DeepseekV3ForCausalLM, but model.norm.epsilon is"),
            std::string::npos)
      << refusal(latent);
  latent.norm.epsilon = 1e-6;
  std::get<models::DenseFeedForward>(latent.feed_forward).bias = false;
  latent.bias = true;
  EXPECT_NE(refusal(latent).find("model.bias is true here and false there"), std::string::npos)
      << refusal(latent);
  auto mixture = llama_like();
  mixture.feed_forward = models::MixtureOptions{.experts = 4, .active = 2, .d_hidden = 12};
  EXPECT_NE(refusal(mixture).find("model.feed_forward.kind is moe here and dense there"),
            std::string::npos)
      << refusal(mixture);
}

}  // namespace
}  // namespace ablate::exchange
