#include <gtest/gtest.h>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/read_huggingface.h"
#include "experiments/exchange/huggingface/read_tokenizer.h"
#include "models/inference/inference_model.h"
#include "models/transformer.h"
#include "tests/experiments/exchange/huggingface/family_folder.h"
#include "tests/says.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

class HuggingFace : public FamilyFolder {
 protected:
  /// The message with which the folder is refused.
  std::string refusal() const {
    return refusal_of<training::CheckpointError>([&] { read_huggingface(folder()); });
  }
};

models::Transformer model_of(const HubCheckpoint& read) {
  const auto size = read.ids.size();
  models::Transformer model(read.options, models::Vocabulary{size, size, tokenizer::kPad});
  training::load_weights(*model, read.weights);
  return model;
}

/// Our ids of foreign ones, with padding where the mask is 0. // [B, T]
torch::Tensor ids_of(const tokenizer::IdMap& map, const json& foreign, const json& mask) {
  std::vector<int64_t> ids;
  for (size_t b = 0; b < foreign.size(); ++b)
    for (size_t t = 0; t < foreign[b].size(); ++t)
      ids.push_back(mask[b][t] == 1 ? map.ours(foreign[b][t]) : tokenizer::kPad);
  return torch::tensor(ids).view({static_cast<int64_t>(foreign.size()), -1});
}

/// The target, which begins with the start token in a model of two stacks.
torch::Tensor target_of(const tokenizer::IdMap& map, const json& model) {
  auto ids = ids_of(map, model.at("target"), model.at("target_mask"));
  if (model.contains("source")) ids.select(1, 0).fill_(tokenizer::kBos);
  return ids;
}

torch::Tensor source_of(const tokenizer::IdMap& map, const json& model) {
  return model.contains("source") ? ids_of(map, model.at("source"), model.at("source_mask"))
                                  : target_of(map, model);
}

/// The largest difference from Transformers' logits, or hidden states if the model has no head; NaN
/// if one is not a number.
double difference(models::Transformer model, const tokenizer::IdMap& map, const json& expected) {
  const torch::NoGradGuard no_grad;
  const auto source = source_of(map, expected), target = target_of(map, expected);
  const auto hidden = model->hidden(source, target).hidden, logits = model->forward(source, target);
  auto largest = torch::zeros({}, torch::kDouble);
  const auto& scores = expected.at("scores");
  for (int64_t b = 0; b < hidden.size(0); ++b)
    for (int64_t t = 0; t < hidden.size(1); ++t) {
      const auto& row = scores[static_cast<size_t>(b)][static_cast<size_t>(t)];
      if (row.is_null()) continue;
      const bool headless = static_cast<int64_t>(row.size()) == hidden.size(2);
      for (size_t i = 0; i < row.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const auto& ours =
            headless ? hidden[b][t][at] : logits[b][t][map.ours(static_cast<int32_t>(i))];
        largest = torch::maximum(largest, (ours.to(torch::kDouble) - row[i].get<double>()).abs());
      }
    }
  return largest.item<double>();
}

/// Greedy continuations by the cache, as foreign ids.
std::vector<int64_t> continued(const models::Transformer& model, const tokenizer::IdMap& map,
                               const json& expected) {
  const models::InferenceModel inference(model);
  const bool pair = expected.contains("source");
  auto prompt = pair ? source_of(map, expected).narrow(0, 0, 1)
                     : target_of(map, expected).narrow(0, 0, 1).narrow(1, 0, 3);
  auto last = pair ? torch::tensor({int64_t{tokenizer::kBos}}) : prompt.select(1, 2);
  auto cache = inference.prefill(pair ? prompt : prompt.narrow(1, 0, 2));
  std::vector<int64_t> ids;
  for (size_t i = 0; i < expected.at("continued").size(); ++i) {
    last = inference.step(last, cache).argmax(-1);
    ids.push_back(map.theirs(last.item<int32_t>()).value());
  }
  return ids;
}

TEST_F(HuggingFace, LogitsOfEveryFamilyAreThoseOfTransformers) {
  for (const auto& [name, expected] : families().items()) {
    SCOPED_TRACE(name);
    const auto read = this->read(expected.at("config"), tensors_of(expected));
    EXPECT_LT(difference(model_of(read), read.ids, expected), 2e-5);
  }
}

TEST_F(HuggingFace, GreedyContinuationsByTheCacheAreThoseOfTransformers) {
  for (const auto& [name, expected] : families().items()) {
    if (!expected.contains("continued")) continue;
    SCOPED_TRACE(name);
    const auto read = this->read(expected.at("config"), tensors_of(expected));
    EXPECT_EQ(continued(model_of(read), read.ids, expected),
              expected.at("continued").get<std::vector<int64_t>>());
  }
}

/// The dictionary may have a side's own key for what the table has as the key of both sides.
std::string key_of_both_sides(std::string path) {
  for (const std::string side : {"model.encoder.", "model.decoder."})
    if (path.starts_with(side)) path = "model." + path.substr(side.size());
  return path;
}

TEST_F(HuggingFace, TheDictionaryOfForeignWordsAgreesWithTheTables) {
  size_t compared = 0;
  for (const auto& family : known_families())
    for (const auto& [name, field] : family_map(family).fields) {
      const auto* word = config::find_foreign_word(name);
      if (word == nullptr || field.again) continue;
      EXPECT_EQ(key_of_both_sides(std::string(word->path)), "model." + field.keys.front())
          << family << ": " << name;
      ++compared;
    }
  EXPECT_GT(compared, 80U);
}

TEST_F(HuggingFace, ATensorOfAnotherShapeIsNamed) {
  const auto& mamba2 = families().at("mamba2");
  auto tensors = tensors_of(mamba2);
  auto& filter = tensors.at("backbone.layers.1.mixer.conv1d.weight");
  filter = filter.slice(2, 1).contiguous();
  write(mamba2.at("config"), tensors);
  EXPECT_TRUE(says(refusal(), "'backbone.layers.1.mixer.conv1d.weight' [3, 42] cannot make"));
}

TEST_F(HuggingFace, TensorsThatAreMissingOrLeftOverAreNamed) {
  const auto& llama = families().at("smollm");
  auto tensors = tensors_of(llama);
  const auto taken = tensors.extract("model.layers.1.mlp.up_proj.weight");
  write(llama.at("config"), tensors);
  EXPECT_TRUE(says(refusal(), "model.layers.1.mlp.up_proj.weight"));
  tensors["model.layers.1.mlp.up_proj.weight"] = taken.mapped();
  tensors["model.layers.1.mlp.up_proj.weight_scale"] = torch::ones({1});
  write(llama.at("config"), tensors);
  EXPECT_TRUE(says(refusal(), "no place for model.layers.1.mlp.up_proj.weight_scale"));
}

TEST_F(HuggingFace, ShardsAreOneModelAndAnyDisagreementIsNamed) {
  const auto& llama = families().at("smollm");
  const auto all = tensors_of(llama);
  const auto whole = read(llama.at("config"), all);
  std::filesystem::remove(folder() / "model.safetensors");
  std::map<std::string, training::Tensors> shards;
  json index;
  for (const auto& [name, tensor] : all) {
    const std::string shard =
        shards.size() < 2 && shards["a.safetensors"].size() < 5 ? "a.safetensors" : "b.safetensors";
    shards[shard][name] = tensor;
    index["weight_map"][name] = shard;
  }
  const auto write_all = [&] {
    for (const auto& [file, tensors] : shards)
      training::write_durably(folder() / file, training::to_safetensors(tensors));
    write_text("model.safetensors.index.json", index.dump());
  };
  write_all();
  const auto read = read_huggingface(folder());
  for (const auto& [name, tensor] : whole.weights)
    EXPECT_TRUE(torch::equal(read.weights.at(name), tensor)) << name;
  const auto first = shards["a.safetensors"].begin()->first;
  shards["b.safetensors"][first] = all.at(first);
  write_all();
  EXPECT_TRUE(says(refusal(), first));
  shards["b.safetensors"].erase(first);
  shards["a.safetensors"].erase(first);
  write_all();
  EXPECT_TRUE(says(refusal(), first));
  index["weight_map"][first] = "../a.safetensors";
  write_all();
  EXPECT_TRUE(says(refusal(), "'../a.safetensors' is not the name of a file"));
  std::filesystem::remove(folder() / "b.safetensors");
  index["weight_map"][first] = "a.safetensors";
  write_text("model.safetensors.index.json", index.dump());
  EXPECT_TRUE(says(refusal(), "b.safetensors is missing"));
}

TEST_F(HuggingFace, OlderNamesOfNormsAreThoseOfToday) {
  const auto& bert = families().at("bert");
  training::Tensors older;
  for (const auto& [name, tensor] : tensors_of(bert)) {
    const auto norm = name.find("LayerNorm.");
    if (norm == std::string::npos)
      older[name] = tensor;
    else
      older[name.substr(0, norm) +
            (name.ends_with("weight") ? "LayerNorm.gamma" : "LayerNorm.beta")] = tensor;
  }
  const auto read = this->read(bert.at("config"), older);
  EXPECT_LT(difference(model_of(read), read.ids, bert), 2e-5);
  older["bert.embeddings.LayerNorm.weight"] = torch::ones({16});
  write(bert.at("config"), older);
  EXPECT_TRUE(says(refusal(), "no place for bert.embeddings.LayerNorm.gamma"));
}

TEST_F(HuggingFace, TokensThatABertFolderDoesNotNameHaveTheNamesOfItsClass) {
  auto vocabulary = json::object();
  for (const auto* token : {"[PAD]", "a", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    vocabulary[token] = vocabulary.size();
  const json model{{"type", "WordPiece"},
                   {"vocab", vocabulary},
                   {"unk_token", "[UNK]"},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100}};
  write_text("tokenizer.json", json{{"version", "1.0"}, {"model", model}}.dump());
  const auto special = [&](const char* config) {
    write_text("tokenizer_config.json", config);
    return read_tokenizer(folder()).special;
  };
  const auto usual = special(R"({"do_lower_case": true, "model_max_length": 512})");
  EXPECT_EQ(usual.pad, 0);
  EXPECT_EQ(usual.unk, 2);
  EXPECT_EQ(usual.bos, 3);
  EXPECT_EQ(usual.eos, 4);
  EXPECT_EQ(usual.mask, 5);
  EXPECT_EQ(special(R"({"mask_token": "a"})").mask, 1);
  EXPECT_EQ(special(R"({"tokenizer_class": "PreTrainedTokenizerFast"})").mask, std::nullopt);
}

TEST_F(HuggingFace, APickleIsNotRead) {
  write_text("config.json", families().at("smollm").at("config").dump());
  write_text("pytorch_model.bin", "\x80\x02.");
  EXPECT_TRUE(says(refusal(), "a pickle is a program and is not read"));
}

}  // namespace
}  // namespace ablate::exchange
