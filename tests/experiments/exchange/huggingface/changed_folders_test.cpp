#include "experiments/config/schema/rules.h"
#include "experiments/exchange/huggingface/family.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/import_huggingface.h"
#include "experiments/exchange/huggingface/read_huggingface.h"
#include "tests/experiments/exchange/huggingface/family_folder.h"
#include "tests/message_table.h"
#include "tests/says.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

/// Folders of families in which one field or tensor is another than Transformers would write.
class ChangedFolders : public FamilyFolder {
 protected:
  static json config_of(const std::string& name) { return families().at(name).at("config"); }
  static training::Tensors own(const std::string& name) { return tensors_of(families().at(name)); }
  /// The message with which the folder is refused; empty if it is read.
  std::string refusal(const json& config, const training::Tensors& tensors) const {
    return refusal_of<training::CheckpointError>([&] { read(config, tensors); });
  }
};

FamilyMap map_of(const json& config) { return family_map(config.at("model_type")); }

double fraction_of(const HubCheckpoint& read) {
  return std::get<models::Rotary>(read.options.layer.position).fraction;
}

double scale_of(const HubCheckpoint& read) {
  return std::get<models::LmHead>(read.options.output).scale;
}

TEST_F(ChangedFolders, SayWhichFieldIsWrong) {
  MessageTable(std::string(ABLATE_SOURCE) +
               "/tests/experiments/exchange/huggingface/changed_fields.txt")
      .check([&](const MessageRow& row) {
        const auto name = row.name.substr(0, row.name.find(' '));
        const auto change = row.name.substr(name.size() + 1);
        auto config = config_of(name);
        if (change.starts_with("without "))
          config.erase(change.substr(8));
        else
          config.update(json::parse(change));
        const auto said =
            replaced_everywhere(refusal(config, own(name)), folder().string(), "FOLDER");
        return said.empty() ? "read" : said;
      });
}

TEST_F(ChangedFolders, AMissingFieldStandsForWhatTheFamilySays) {
  auto neox = config_of("gpt_neox");
  neox.erase("rope_parameters");
  neox["num_attention_heads"] = 2;
  EXPECT_EQ(fraction_of(read(neox, own("gpt_neox"))), 0.25);
  neox["rotary_pct"] = 1.0;
  EXPECT_EQ(fraction_of(read(neox, own("gpt_neox"))), 1.0);
  neox["rotary_pct"] = 0.4;
  EXPECT_TRUE(says(refusal(neox, own("gpt_neox")), "turns 3 of the 8 channels of a head"));
}

TEST_F(ChangedFolders, AMissingWindowOfQwenIsTheUsualOne) {
  for (const std::string name : {"qwen2", "qwen3"}) {
    auto config = config_of(name);
    config.erase("sliding_window");
    EXPECT_EQ(refusal(config, own(name)), "");
    config["use_sliding_window"] = true;
    config["max_window_layers"] = 0;
    config["layer_types"] = nullptr;
    EXPECT_TRUE(says(refusal(config, own(name)), "is missing, which stands for 4096"));
  }
}

TEST_F(ChangedFolders, NullIsFalseWhereTransformersTakesIt) {
  auto config = config_of("deepseek");
  const auto neighbours = [&] {
    ConfigFields fields(config, "config.json");
    return read_family(fields, {}).pairs_are_neighbours;
  };
  config["rope_interleave"] = nullptr;
  EXPECT_FALSE(neighbours());
  config.erase("rope_interleave");
  EXPECT_TRUE(neighbours());
}

TEST_F(ChangedFolders, T5sScaleIsWhatItsFieldsSay) {
  auto config = config_of("t5");
  config["scale_decoder_outputs"] = nullptr;
  EXPECT_EQ(scale_of(read(config, own("t5"))), 1);
  config.erase("scale_decoder_outputs");
  EXPECT_EQ(scale_of(read(config, own("t5"))), 0.25);
  config.erase("tie_word_embeddings");
  EXPECT_EQ(scale_of(read(config, own("t5"))), 0.25);
  EXPECT_TRUE(says(refusal(config, own("t5 1.1")), "cannot make"));  // of another network
  auto tensors = own("t5");
  tensors["lm_head.weight"] = tensors.at("shared.weight") + 1;
  EXPECT_TRUE(says(refusal(config, tensors), "'lm_head.weight' is 'shared.weight' once more, but"));
  config["tie_word_embeddings"] = false;
  EXPECT_EQ(scale_of(read(config, tensors)), 1);
  EXPECT_TRUE(says(refusal(config, own("t5")), "has no tensor 'lm_head.weight'"));
}

TEST_F(ChangedFolders, ATensorThatIsAnotherOnceMoreMustBeIt) {
  for (const auto& [name, family] : families().items()) {
    SCOPED_TRACE(name);
    const auto config = config_of(name);
    for (const auto& [copy, of] : expanded(map_of(config).unused, 1)) {
      auto tensors = own(name);
      if (!tensors.contains(of) || tensors.contains(copy)) continue;
      if (config.contains("scale_decoder_outputs") && copy == "lm_head.weight") continue;
      tensors[copy] = tensors.at(of).clone();
      EXPECT_EQ(refusal(config, tensors), "") << copy;
      tensors[copy][0] += 1e-3;
      EXPECT_TRUE(says(refusal(config, tensors), "'" + copy + "' is '" + of + "' once more, but"));
    }
  }
}

TEST_F(ChangedFolders, MasksAndAnglesOfOldFilesMustBeThoseOfTheModel) {
  auto gpt2 = own("gpt2");
  auto& mask = gpt2["transformer.h.0.attn.bias"] = torch::ones({1, 1, 12, 12}).tril();
  gpt2["transformer.h.0.attn.masked_bias"] = torch::tensor(-1e4);
  EXPECT_EQ(refusal(config_of("gpt2"), gpt2), "");
  mask = torch::ones({1, 1, 12, 12});
  EXPECT_TRUE(says(refusal(config_of("gpt2"), gpt2), "is not what this configuration says"));
  auto llama = own("smollm");
  auto& angles = llama["model.layers.1.self_attn.rotary_emb.inv_freq"] = torch::tensor({1.0, 0.01});
  EXPECT_EQ(refusal(config_of("smollm"), llama), "");
  angles = torch::tensor({1.0, 0.002});
  EXPECT_TRUE(says(refusal(config_of("smollm"), llama), "inv_freq' is not what this"));
  auto bert = own("bert");
  auto& places = bert["bert.embeddings.position_ids"] = torch::arange(12).unsqueeze(0);
  EXPECT_EQ(refusal(config_of("bert"), bert), "");
  places = places + 1;
  EXPECT_TRUE(says(refusal(config_of("bert"), bert), "position_ids' is not what this"));
}

TEST_F(ChangedFolders, AMissingBiasOfTheOutputIsNoZeros) {
  for (const std::string name : {"bert", "modernbert", "marian"}) {
    SCOPED_TRACE(name);
    auto tensors = own(name);
    const auto bias = map_of(config_of(name)).tensors.at("output_bias").names.front();
    const auto taken = tensors.extract(bias);
    EXPECT_TRUE(says(refusal(config_of(name), tensors), "has no tensor '"));
    if (name != "bert") continue;
    tensors["cls.predictions.decoder.bias"] = taken.mapped();
    EXPECT_TRUE(torch::equal(read(config_of(name), tensors).weights.at("output_bias"),
                             read(config_of(name), own(name)).weights.at("output_bias")));
  }
}

TEST_F(ChangedFolders, ATokenTypeOfAnotherWidthIsNotSpreadOverAllChannels) {
  auto bert = own("bert");
  auto& types = bert.at("bert.embeddings.token_type_embeddings.weight");
  types = types.slice(1, 0, 1).contiguous();
  EXPECT_TRUE(
      says(refusal(config_of("bert"), bert), "token_type_embeddings.weight' [2, 1] cannot"));
}

TEST_F(ChangedFolders, TokenTypesAreAsManyAsTheConfigurationSays) {
  auto config = config_of("bert");
  EXPECT_EQ(read(config, own("bert")).options.token_types, 2);
  config.erase("type_vocab_size");
  EXPECT_EQ(read(config, own("bert")).options.token_types, 2);
  config["type_vocab_size"] = 3;
  EXPECT_TRUE(says(refusal(config, own("bert")), "token_type_embeddings.weight' [2, 16] cannot"));
}

TEST_F(ChangedFolders, InfinityAsPythonWritesItIsRead) {
  auto config = config_of("mamba2");
  config["time_step_limit"] = {0.0, "@"};
  write(config, own("mamba2"));
  const auto limit = [&](const std::string& number) {
    write_text("config.json", replaced(config.dump(), "\"@\"", number));
  };
  limit("Infinity");
  EXPECT_EQ(read_huggingface(folder()).family, "mamba2");
  limit("NaN");
  EXPECT_THROW(read_huggingface(folder()), training::CheckpointError);
}

/// Values that no number of a configuration has, or that a few have.
std::vector<json> odd_values(const json& value) {
  if (value.is_number_float()) return {0.0, -1.0, "0.1", 1e300};
  return {0, -1, 1, 6, 1'000'000'000'000, 2.5, true, uint64_t{1} << 63};
}

TEST_F(ChangedFolders, HowTheirTextsAreWrittenIsNamedIfItIsNotGreedily) {
  write_text("config.json", R"({"num_beams": 6, "min_length": 0})");
  EXPECT_EQ(unread_generation(folder()), "num_beams 6") << "an older folder";
  const auto unread = [&](const std::string& generation) {
    write_text("generation_config.json", generation);
    return unread_generation(folder());
  };
  EXPECT_EQ(unread(R"({"num_beams": 1, "repetition_penalty": 1, "suppress_tokens": null})"), "");
  EXPECT_EQ(unread(R"({"do_sample": true, "bad_words_ids": [[58100]]})"),
            "bad_words_ids [[58100]], do_sample true");
  EXPECT_EQ(
      unread(R"({"sequence_bias": [[[3], -9.0]], "exponential_decay_length_penalty": [4, 2]})"),
      "exponential_decay_length_penalty [4,2], sequence_bias [[[3],-9.0]]");
}

TEST_F(ChangedFolders, TheIdsThatEndTheirTextsElsewhereAreNamed) {
  const auto unread = [&](const std::string& model, const std::string& generation) {
    write_text("config.json", model);
    write_text("generation_config.json", generation);
    return unread_generation(folder());
  };
  const std::string one = R"({"eos_token_id": 7})", several = R"({"eos_token_id": [7, 9]})";
  EXPECT_EQ(unread(one, one), "");
  EXPECT_EQ(unread(several, one), "");
  EXPECT_EQ(unread(one, R"({"eos_token_id": [7]})"), "");
  EXPECT_EQ(unread(one, "{}"), "");
  EXPECT_EQ(unread("{}", one), "") << "the tokenizer's end counts";
  EXPECT_EQ(unread(one, R"({"eos_token_id": 9})"), "eos_token_id 9");
  EXPECT_EQ(unread(several, several), "eos_token_id [7,9]");
  EXPECT_EQ(unread(R"({"decoder_start_token_id": 0})", R"({"decoder_start_token_id": 5})"),
            "decoder_start_token_id 5");
}

TEST_F(ChangedFolders, NoNumberMakesAModelThatBreaksARule) {
  for (const auto& [name, family] : families().items())
    for (const auto& [field, value] : family.at("config").items()) {
      if (!value.is_number()) continue;
      for (const auto& odd : odd_values(value)) {
        SCOPED_TRACE(name + ": " + field + ": " + odd.dump());
        auto config = config_of(name);
        config[field] = odd;
        write(config, own(name));
        try {
          std::vector<config::BrokenRule> broken;
          config::collect_broken_rules(options::slot_of(read_huggingface(folder()).options),
                                       "model", broken);
          EXPECT_TRUE(broken.empty());
        } catch (const training::CheckpointError& error) {
          EXPECT_TRUE(says(error.what(), folder().string()));
        } catch (const tokenizer::TokenizerError&) {  // of ids
        }
      }
    }
}

}  // namespace
}  // namespace ablate::exchange
