#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/disassembly.h"
#include "experiments/exchange/huggingface/hub_check.h"
#include "experiments/exchange/huggingface/marian_form.h"
#include "experiments/exchange/huggingface/read_huggingface.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "models/initialization.h"
#include "models/random.h"
#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/says.h"
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
  o.layer.attention = MultiHead{.heads = 4};
  o.layer.feed_forward = models::DenseFeedForward{.d_hidden = 24};
  o.dropout = 0;
  return o;
}

models::TransformerOptions llama_like() {
  auto o = small(models::Family::decoder_only);
  o.layer.attention = MultiHead{.heads = 4, .key_value_heads = 2};
  o.layer.feed_forward = models::DenseFeedForward{
      .d_hidden = 24, .activation = models::Activation::silu, .gated = true};
  o.layer.position = models::Rotary{};
  o.layer.norm = {.kind = models::NormKind::rms, .placement = models::NormPlacement::pre};
  o.bias = o.embedding_scale = false;
  return o;
}

models::TransformerOptions untied_bert() {
  auto bert = small(models::Family::encoder_only);
  bert.layer.position = models::Learned{.max_length = 20};
  bert.embedding_norm = models::EmbeddingNorm::layer;
  bert.embedding_scale = false;
  bert.output = models::LmHead{{}, true, models::Activation::gelu};
  bert.layer.feed_forward =
      models::DenseFeedForward{.d_hidden = 24, .activation = models::Activation::gelu};
  bert.tying = models::Tying::none;
  return bert;
}

models::TransformerOptions t5_like() {
  auto t5 = small(models::Family::encoder_decoder);
  t5.layer.attention = MultiHead{.heads = 4, .scale = {.value = 1}};
  t5.layer.position = models::T5Bias{.buckets = 8, .max_distance = 20};
  t5.layer.norm = {
      .kind = models::NormKind::rms, .placement = models::NormPlacement::pre, .epsilon = 1e-6};
  t5.bias = t5.embedding_scale = false;
  t5.output = models::LmHead{{.scale = 0.25}};
  return t5;
}

models::Transformer random_model(const models::TransformerOptions& options) {
  models::Transformer model(options, models::Vocabulary{kVocabulary, kVocabulary, tokenizer::kPad});
  models::initialize(*model, 3);
  const torch::NoGradGuard no_grad;  // biases and norms start alike
  for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * 0.1);
  return model;
}

/// A model and the folder that it is written to.
struct Written {
  models::Transformer model;
  WrittenFamily form;
  HubVocabulary vocabulary;
};

class WrittenFamilies : public training::FolderTestCase {
 protected:
  Written write(const models::TransformerOptions& options) {
    torch::manual_seed(1);
    Written written{.model = random_model(options),
                    .form = write_family(options, 32, kVocabulary, kSpecial),
                    .vocabulary = {.order = {}, .special = kSpecial}};
    for (int32_t id = 0; id < kVocabulary; ++id) written.vocabulary.order.push_back(id);
    if (written.form.family == "marian") {
      const tokenizer::IdMap ids(kVocabulary, kSpecial);
      written.vocabulary.order = marian_order(ids);
      written.vocabulary.special = marian_specials(written.vocabulary.order, false);
      set_vocabulary(written.form.config, kVocabulary, written.vocabulary.special);
    }
    tensors_ = hub_tensors(training::weights_of(*written.model), options, written.form,
                           written.vocabulary.order);
    save(written.form.config);
    written.model->to(torch::kDouble);
    return written;
  }
  void save(const nlohmann::json& config) const {
    training::write_durably(folder() / "config.json", config.dump());
    training::write_durably(folder() / "model.safetensors", training::to_safetensors(tensors_));
  }
  double difference(Written& written) const {
    return hub_difference(written.model, folder(), written.vocabulary);
  }
  /// The same, or infinite if the folder is refused.
  double differs(Written& written) const {
    try {
      return difference(written);
    } catch (const training::CheckpointError&) {
      return std::numeric_limits<double>::infinity();
    }
  }
  /// Its log-probabilities as this project reads the folder again.
  double difference_read_again(Written& written) const {
    const auto read =
        read_huggingface(folder(), {.named = {.unk = written.vocabulary.special.unk}});
    const auto size = read.ids.size();
    models::Transformer again(read.options, models::Vocabulary{size, size, tokenizer::kPad});
    training::load_weights(*again, read.weights);
    again->to(torch::kDouble);
    const torch::NoGradGuard no_grad;
    const auto [own, other] = columns(written.vocabulary, read.ids);
    const auto as_read = torch::zeros({kVocabulary}, torch::kLong).scatter(0, own, other);
    const auto source = torch::arange(14).view({2, 7}) + 5, target = source + 2;
    const auto ours = written.model->forward(source, target).index_select(-1, own),
               theirs = again->forward(as_read.take(source), as_read.take(target))
                            .index_select(-1, other);
    return models::largest_difference(ours.log_softmax(-1), theirs.log_softmax(-1));
  }
  /// Our ids of the folder's tokens, and those that reading gives them.
  static std::pair<torch::Tensor, torch::Tensor> columns(const HubVocabulary& vocabulary,
                                                         const tokenizer::IdMap& read) {
    std::vector<int64_t> own(vocabulary.order.begin(), vocabulary.order.end()), other;
    for (size_t id = 0; id < own.size(); ++id) other.push_back(read.ours(static_cast<int32_t>(id)));
    return {torch::tensor(own), torch::tensor(other)};
  }
  /// The architecture as which it is written. The folder must compute what the model does.
  std::string written_as(const models::TransformerOptions& options) {
    auto written = write(options);
    const double rounding = written.form.family == "marian" ? 1e-5 : 1e-6;
    EXPECT_LT(difference(written), rounding);
    EXPECT_LT(difference_read_again(written), 1e-5);
    return written.form.config.at("architectures").at(0);
  }

  training::Tensors tensors_;  // in the folder
};

TEST_F(WrittenFamilies, ComputeWhatTheModelsCompute) {
  auto llama = llama_like();
  EXPECT_EQ(written_as(llama), "LlamaForCausalLM");
  auto& heads = std::get<MultiHead>(llama.layer.attention);
  heads.qkv_bias = true;
  EXPECT_EQ(written_as(llama), "Qwen2ForCausalLM");
  heads = {.heads = 4, .d_k = 6, .d_v = 6, .key_value_heads = 2, .qk_norm = models::QkNorm::rms};
  EXPECT_EQ(written_as(llama), "Qwen3ForCausalLM");

  auto gpt = small(models::Family::decoder_only);
  gpt.layer.position = models::Learned{.max_length = 20};
  gpt.layer.norm.placement = models::NormPlacement::pre;
  gpt.embedding_scale = false;
  EXPECT_EQ(written_as(gpt), "GPT2LMHeadModel");
  gpt.layer.position = models::Rotary{.fraction = 0.5};
  gpt.layer.block = models::Block::parallel_norms;
  gpt.tying = models::Tying::none;
  EXPECT_EQ(written_as(gpt), "GPTNeoXForCausalLM");
  gpt.layer.position = models::Rotary{};
  EXPECT_EQ(written_as(gpt), "GPTNeoXForCausalLM") << "which turns a quarter if nothing is said";

  auto bert = untied_bert();
  EXPECT_EQ(written_as(bert), "BertForMaskedLM");
  bert.tying = models::Tying::three_way;
  EXPECT_EQ(written_as(bert), "BertForMaskedLM");
}

TEST_F(WrittenFamilies, LatentAttentionIsDeepSeeksAndMamba2ItsOwn) {
  auto o = llama_like();
  o.layer.norm.epsilon = 1e-6;
  o.tying = models::Tying::none;
  for (const std::optional<int64_t> query_rank : {std::optional<int64_t>(), {6}}) {
    o.layer.attention =
        models::Latent{.heads = 4, .query_rank = query_rank, .d_k = 3, .shared_d_k = 4};
    EXPECT_EQ(written_as(o), "DeepseekV3ForCausalLM");
  }
  o.layer.position =
      models::Rotary{.scaling = models::YarnScaling{.factor = 4, .trained_length = 3}};
  EXPECT_EQ(written_as(o), "DeepseekV3ForCausalLM");
  o.layer.attention = models::Mamba2{.heads = 4, .state_size = 5};
  o.layer.feed_forward = models::NoFeedForward{};
  o.layer.position = models::NoPosition{};
  EXPECT_EQ(written_as(o), "Mamba2ForCausalLM");
}

TEST_F(WrittenFamilies, TheVanillaTransformerIsMarians) {
  EXPECT_EQ(written_as(small(models::Family::encoder_decoder)), "MarianMTModel");
  EXPECT_EQ(written_as(t5_like()), "T5ForConditionalGeneration");
}

TEST_F(WrittenFamilies, RatesOfDropoutAreThoseOfTraining) {
  auto gpt = small(models::Family::decoder_only);
  gpt.layer.attention = MultiHead{.heads = 4, .dropout = 0.3};
  gpt.layer.position = models::Learned{.max_length = 20};
  gpt.layer.norm.placement = models::NormPlacement::pre;
  gpt.embedding_scale = false;
  gpt.dropout = 0.1;
  auto config = write_family(gpt, 32, kVocabulary, kSpecial).config;
  EXPECT_EQ(config.at("embd_pdrop"), 0.1);
  gpt.embedding_dropout = 0.2;
  config = write_family(gpt, 32, kVocabulary, kSpecial).config;
  EXPECT_EQ(config.at("resid_pdrop"), 0.1);
  EXPECT_EQ(config.at("embd_pdrop"), 0.2);
  EXPECT_EQ(config.at("attn_pdrop"), 0.3);
  auto marian = small(models::Family::encoder_decoder);
  marian.layer.feed_forward = models::DenseFeedForward{.d_hidden = 24, .dropout = 0.4};
  EXPECT_EQ(write_family(marian, 32, kVocabulary, kSpecial).config.at("activation_dropout"), 0.4);
  EXPECT_EQ(written_as(gpt), "GPT2LMHeadModel") << "nothing of it changes what it computes";
  EXPECT_EQ(written_as(marian), "MarianMTModel");
}

TEST_F(WrittenFamilies, LengthsAreThoseOfTraining) {
  auto llama = llama_like();
  EXPECT_EQ(write_family(llama, 65, 30, kSpecial).config.at("max_position_embeddings"), 65);
  llama.layer.position =
      models::Rotary{.scaling = models::YarnScaling{.factor = 4, .trained_length = 16}};
  EXPECT_EQ(write_family(llama, 65, 30, kSpecial).config.at("max_position_embeddings"), 64);
  const auto marian = small(models::Family::encoder_decoder);
  for (const auto& [trained, written] : {std::pair{64, 1024}, {1400, 1400}, {1 << 20, 1024}})
    EXPECT_EQ(
        write_family(marian, trained, kVocabulary, kSpecial).config.at("max_position_embeddings"),
        written);
}

/// A map of names with two lines exchanged writes a file with two tensors exchanged, and reads it
/// back without a difference.
TEST_F(WrittenFamilies, AWrongMapOfNamesIsSeenByTheCheck) {
  const std::pair<models::TransformerOptions, std::vector<std::array<std::string, 2>>> cases[] = {
      {llama_like(),
       {{"model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight"},
        {"model.layers.1.self_attn.k_proj.weight", "model.layers.1.self_attn.v_proj.weight"},
        {"model.layers.0.input_layernorm.weight",
         "model.layers.0.post_attention_layernorm.weight"}}},
      {untied_bert(),
       {{"bert.encoder.layer.0.attention.self.query.bias",
         "bert.encoder.layer.0.attention.self.value.bias"},
        {"bert.embeddings.LayerNorm.bias", "cls.predictions.transform.LayerNorm.bias"}}},
      {small(models::Family::encoder_decoder),
       {{"model.decoder.layers.0.self_attn.q_proj.bias",
         "model.decoder.layers.0.encoder_attn.q_proj.bias"},
        {"model.encoder.embed_positions.weight", "model.shared.weight"}}}};
  for (const auto& [options, exchanged] : cases) {
    auto written = write(options);
    for (const auto& [first, second] : exchanged) {
      const auto all = tensors_;
      std::swap(tensors_.at(first), tensors_.at(second));
      save(written.form.config);
      EXPECT_GT(differs(written), 1e-4) << first;
      tensors_ = all;
    }
  }
}

TEST_F(WrittenFamilies, ABiasOfTheOutputUnderAnotherNameIsSeenByTheCheck) {
  auto written = write(untied_bert());
  ASSERT_LT(difference(written), 1e-6);
  tensors_.erase("cls.predictions.decoder.bias");
  save(written.form.config);
  EXPECT_THROW(difference(written), training::CheckpointError);
}

TEST_F(WrittenFamilies, AWrongFieldOfTheConfigurationIsSeenByTheCheck) {
  auto llama = llama_like();
  llama.layer.norm.epsilon = 1e-6;
  auto written = write(llama);
  const std::pair<const char*, nlohmann::json> fields[] = {
      {"rms_norm_eps", 1e-5},
      {"hidden_act", "gelu"},
      {"num_attention_heads", 2},
      {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 500.0}}},
      {"rope_parameters", {{"rope_type", "linear"}, {"rope_theta", 10'000.0}, {"factor", 2.0}}}};
  for (const auto& [name, value] : fields) {
    auto config = written.form.config;
    config[name] = value;
    save(config);
    EXPECT_GT(differs(written), 1e-6) << name;
  }
}

/// A wrong last row of learned positions, and a wrong bucket of T5's farthest distance.
TEST_F(WrittenFamilies, TheLastPositionsAreReached) {
  auto bert = write(untied_bert());
  tensors_.at("bert.embeddings.position_embeddings.weight")[19][0] += 1;
  save(bert.form.config);
  EXPECT_GT(difference(bert), 1e-4);
  auto t5 = write(t5_like());
  ASSERT_LT(difference(t5), 1e-6);
  for (const std::string side : {"encoder", "decoder"}) {
    const auto all = tensors_;
    auto& table =
        tensors_.at(side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight");
    table = table.clone();
    table[7] += 1;
    save(t5.form.config);
    EXPECT_GT(difference(t5), 1e-5) << side;
    tensors_ = all;
  }
}

TEST_F(WrittenFamilies, AModelThatNoFamilyComputesIsRefusedByItsFirstKey) {
  const auto refusal = [](const models::TransformerOptions& options) -> std::string {
    return refusal_of<UsageError>([&] { write_family(options, 32, kVocabulary, kSpecial); });
  };
  auto o = llama_like();
  std::get<MultiHead>(o.layer.attention).softcap = 30;
  EXPECT_TRUE(
      says(refusal(o), "the nearest is LlamaForCausalLM, but model.attention.softcap is 30"));
  o = llama_like();
  o.layer.position = models::Alibi{};
  EXPECT_TRUE(says(refusal(o), "model.position.kind is alibi here and rotary there"));
  o = llama_like();
  o.layer.canon.places = {models::CanonPlace::attention};
  models::own_layers(o, models::Side::decoder);  // a list of layers that are alike
  EXPECT_TRUE(says(refusal(o), "model.canon.places is [a] here and [] there"));
  o = llama_like();
  for (auto& layer : models::own_layers(o, models::Side::decoder))
    layer.ngrams = models::HashedNgrams{};
  EXPECT_TRUE(says(refusal(o), "model.ngrams.kind is hashed here and none there"));
  auto pair = small(models::Family::encoder_decoder);
  for (auto& layer : models::own_layers(pair, models::Side::decoder))
    layer.cross_attention = models::NoAttention{};
  EXPECT_TRUE(says(refusal(pair), "model.cross_attention.kind is none here"));
  auto latent = llama_like();
  latent.layer.attention = models::Latent{.heads = 4};
  EXPECT_TRUE(
      says(refusal(latent), "the nearest is DeepseekV3ForCausalLM, but model.norm.epsilon is"));
  latent.layer.norm.epsilon = 1e-6;
  std::get<models::DenseFeedForward>(latent.layer.feed_forward).bias = false;
  latent.bias = true;
  EXPECT_TRUE(says(refusal(latent), "model.bias is true here and false there"));
  auto mixture = llama_like();
  mixture.layer.feed_forward = models::MixtureOptions{.experts = 4, .active = 2, .d_hidden = 12};
  EXPECT_TRUE(says(refusal(mixture), "model.feed_forward.kind is moe here and dense there"));
}

}  // namespace
}  // namespace ablate::exchange
