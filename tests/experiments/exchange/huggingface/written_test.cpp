#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/disassembly.h"
#include "experiments/exchange/huggingface/hub_check.h"
#include "experiments/exchange/huggingface/marian_form.h"
#include "experiments/exchange/huggingface/read_huggingface.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "models/random.h"
#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/says.h"
#include "tests/training/folder_test_case.h"
#include "tokenizer/special_tokens.h"
#include "training/checkpoint/safetensors.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

using models::tiny;

constexpr int64_t kVocabulary = 30;
constexpr tokenizer::SpecialIds kSpecial{
    .pad = tokenizer::kPad, .bos = tokenizer::kBos, .eos = tokenizer::kEos, .unk = tokenizer::kUnk};

const std::string kPair = "attention.heads: 4";
const std::string kGpt =
    "family: decoder_only, attention.heads: 4, position: {kind: learned, max_length: 20}, "
    "norm.placement: pre, embedding_scale: false";
const std::string kLlama =
    "family: decoder_only, attention: {heads: 4, key_value_heads: 2}, feed_forward: {activation: "
    "silu, gated: true}, position: rotary, norm: {kind: rms, placement: pre}, bias: false, "
    "embedding_scale: false";
const std::string kBert =  // untied
    "family: encoder_only, attention.heads: 4, position: {kind: learned, max_length: 20}, "
    "embedding_norm: layer, embedding_scale: false, output: {bias: true, transform: gelu}, "
    "feed_forward.activation: gelu, tying: none";
const std::string kT5 =
    "attention: {heads: 4, scale.value: 1}, position: {kind: t5, buckets: 8, max_distance: 20}, "
    "norm: {kind: rms, placement: pre, epsilon: 1.0e-6}, bias: false, embedding_scale: false, "
    "output.scale: 0.25";
const std::string kYarn = "position.scaling: {kind: yarn, factor: 4, trained_length: ";

models::Transformer random_model(const models::TransformerOptions& options) {
  auto model = models::make(options, {kVocabulary, kVocabulary, tokenizer::kPad}, 3);
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
  Written write(const models::TransformerOptions& options, int64_t length = 32) {
    torch::manual_seed(1);
    Written written{.model = random_model(options),
                    .form = write_family(options, length, kVocabulary, kSpecial),
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
  const std::string neox = "block: parallel_norms, tying: none, position: ";
  const std::string latent =
      "norm.epsilon: 1.0e-6, tying: none, attention: {kind: latent, d_k: 3, shared_d_k: 4";
  for (const auto& [keys, more, architecture] : std::vector<std::array<std::string, 3>>{
           {kLlama, "", "LlamaForCausalLM"},
           {kLlama, "attention.qkv_bias: true", "Qwen2ForCausalLM"},
           {kLlama, "attention: {d_k: 6, d_v: 6, qk_norm: rms}", "Qwen3ForCausalLM"},
           {kLlama, latent + "}", "DeepseekV3ForCausalLM"},
           {kLlama, latent + ", query_rank: 6}", "DeepseekV3ForCausalLM"},
           {kLlama, latent + ", query_rank: 6}, " + kYarn + "3}", "DeepseekV3ForCausalLM"},
           {kLlama,
            "norm.epsilon: 1.0e-6, tying: none, attention: {kind: mamba2, state_size: 5}, "
            "feed_forward: none, position: none",
            "Mamba2ForCausalLM"},
           {kGpt, "", "GPT2LMHeadModel"},
           {kGpt, neox + "{kind: rotary, fraction: 0.5}", "GPTNeoXForCausalLM"},
           {kGpt, neox + "rotary", "GPTNeoXForCausalLM"},  // a quarter turns if nothing is said
           {kBert, "", "BertForMaskedLM"},
           {kBert, "tying: three_way", "BertForMaskedLM"},
           {kPair, "", "MarianMTModel"},
           {kT5, "", "T5ForConditionalGeneration"}})
    EXPECT_EQ(written_as(tiny(keys, more)), architecture) << keys << " under " << more;
}

TEST_F(WrittenFamilies, RatesOfDropoutAreThoseOfTraining) {
  const auto config = [](const models::TransformerOptions& options) {
    return write_family(options, 32, kVocabulary, kSpecial).config;
  };
  auto gpt = tiny(kGpt, "attention.dropout: 0.3, dropout: 0.1");
  EXPECT_EQ(config(gpt).at("embd_pdrop"), 0.1);
  gpt.embedding_dropout = 0.2;
  EXPECT_EQ(config(gpt).at("resid_pdrop"), 0.1);
  EXPECT_EQ(config(gpt).at("embd_pdrop"), 0.2);
  EXPECT_EQ(config(gpt).at("attn_pdrop"), 0.3);
  const auto marian = tiny(kPair, "feed_forward.dropout: 0.4, residual.drop: 0.2");
  EXPECT_EQ(config(marian).at("activation_dropout"), 0.4);
  EXPECT_EQ(written_as(gpt), "GPT2LMHeadModel") << "nothing of it changes what it computes";
  EXPECT_EQ(written_as(marian), "MarianMTModel");
}

TEST_F(WrittenFamilies, LengthsAreThoseOfTraining) {
  const auto longest = [](const models::TransformerOptions& options, int64_t trained) {
    return write_family(options, trained, kVocabulary, kSpecial)
        .config.at("max_position_embeddings");
  };
  EXPECT_EQ(longest(tiny(kLlama), 65), 65);
  EXPECT_EQ(longest(tiny(kLlama, kYarn + "16}"), 65), 64);
  for (const auto& [trained, written] : {std::pair{64, 1024}, {1400, 1400}, {1 << 20, 1024}})
    EXPECT_EQ(longest(tiny(kPair), trained), written);
}

/// Transformers does not load a table of another length.
TEST_F(WrittenFamilies, TablesOfPositionsHaveTheRowsOfTheConfiguration) {
  auto marian = write(tiny(kPair), 1400);
  EXPECT_EQ(tensors_.at("model.encoder.embed_positions.weight").size(0), 1400);
  EXPECT_LT(difference(marian), 1e-5);
  for (const auto& [keys, field] : {std::pair{kPair, "max_position_embeddings"},
                                    {kBert, "max_position_embeddings"},
                                    {kGpt, "n_positions"}}) {
    auto written = write(tiny(keys));
    auto config = written.form.config;
    config[field] = config.at(field).get<int64_t>() + 1;
    save(config);
    EXPECT_THROW(difference(written), training::CheckpointError) << keys;
  }
}

/// A map of names with two lines exchanged writes a file with two tensors exchanged, and reads it
/// back without a difference.
TEST_F(WrittenFamilies, AWrongMapOfNamesIsSeenByTheCheck) {
  const std::pair<models::TransformerOptions, std::vector<std::array<std::string, 2>>> cases[] = {
      {tiny(kLlama),
       {{"model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.up_proj.weight"},
        {"model.layers.1.self_attn.k_proj.weight", "model.layers.1.self_attn.v_proj.weight"},
        {"model.layers.0.input_layernorm.weight",
         "model.layers.0.post_attention_layernorm.weight"}}},
      {tiny(kBert),
       {{"bert.encoder.layer.0.attention.self.query.bias",
         "bert.encoder.layer.0.attention.self.value.bias"},
        {"bert.embeddings.LayerNorm.bias", "cls.predictions.transform.LayerNorm.bias"}}},
      {tiny(kPair),
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
  auto written = write(tiny(kBert));
  ASSERT_LT(difference(written), 1e-6);
  tensors_.erase("cls.predictions.decoder.bias");
  save(written.form.config);
  EXPECT_THROW(difference(written), training::CheckpointError);
}

TEST_F(WrittenFamilies, AWrongFieldOfTheConfigurationIsSeenByTheCheck) {
  auto written = write(tiny(kLlama, "norm.epsilon: 1.0e-6"));
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
  auto bert = write(tiny(kBert));
  tensors_.at("bert.embeddings.position_embeddings.weight")[19][0] += 1;
  save(bert.form.config);
  EXPECT_GT(difference(bert), 1e-4);
  auto t5 = write(tiny(kT5));
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
  const auto refusal = [](const models::TransformerOptions& options) {
    return refusal_of<UsageError>([&] { write_family(options, 32, kVocabulary, kSpecial); });
  };
  const std::string latent = "attention.kind: latent";
  for (const auto& [keys, more, words] : std::vector<std::array<std::string, 3>>{
           {kLlama, "attention.softcap: 30",
            "the nearest is LlamaForCausalLM, but model.attention.softcap is 30"},
           {kLlama, "position: alibi", "model.position.kind is alibi here and rotary there"},
           {kLlama, "decoder.ngrams: hashed", "model.ngrams.kind is hashed here and none there"},
           {kPair, "decoder.cross_attention: none", "model.cross_attention.kind is none here"},
           {kLlama, latent, "the nearest is DeepseekV3ForCausalLM, but model.norm.epsilon is"},
           {kLlama, latent + ", norm.epsilon: 1.0e-6, bias: true, feed_forward.bias: false",
            "model.bias is true here and false there"},
           {kLlama,
            "feed_forward: {kind: moe, experts: 4, active: 2, d_hidden: 12, gated: false, "
            "activation: relu}",
            "model.feed_forward.kind is moe here and dense there"}})
    EXPECT_TRUE(says(refusal(tiny(keys, more)), words)) << more;
  auto alike = tiny(kLlama, "canon.places: [a]");
  models::own_layers(alike, models::Side::decoder);  // a list of layers that are alike
  EXPECT_TRUE(says(refusal(alike), "model.canon.places is [a] here and [] there"));
}

}  // namespace
}  // namespace ablate::exchange
