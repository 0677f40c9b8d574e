#pragma once

#include <nlohmann/json.hpp>

#include "experiments/exchange/huggingface/import_huggingface.h"
#include "experiments/exchange/huggingface/read_huggingface.h"
#include "tests/training/folder_test_case.h"
#include "training/checkpoint/safetensors.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {

/// Small models of Transformers, by name: configuration, shapes, inputs and outputs (families.py).
inline const nlohmann::json& families() {
  static const auto all = nlohmann::json::parse(training::read_bytes(
      std::string(ABLATE_SOURCE) + "/tests/experiments/exchange/huggingface/families.json"));
  return all;
}

/// Element j of the generator's tensor `n`.
inline torch::Tensor values_of(int64_t n, const std::string& name,
                               const std::vector<int64_t>& shape) {
  std::string lower = name;
  for (auto& letter : lower) letter = static_cast<char>(std::tolower(letter));
  const bool norm =
      lower.find("norm") != std::string::npos || name.find("ln_") != std::string::npos;
  const double own = norm && name.ends_with("weight") ? 1 : 0;
  const auto j = torch::arange(c10::multiply_integers(shape), torch::kDouble);
  return (own + 0.3 * (0.7 * j + n).sin()).reshape(shape).to(torch::kFloat);
}

inline training::Tensors tensors_of(const nlohmann::json& model) {
  training::Tensors tensors;
  int64_t n = 0;
  for (const auto& [name, shape] : model.at("shapes").items())  // by name, as there
    tensors[name] = values_of(n++, name, shape);
  return tensors;
}

/// A tokenizer.json of the words w0, w1, ..., each with the id that it names; w7 is the unknown
/// one.
inline nlohmann::json words(int count) {
  auto vocabulary = nlohmann::json::object();
  for (int id = 0; id < count; ++id) vocabulary["w" + std::to_string(id)] = id;
  return {{"version", "1.0"},
          {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
          {"decoder", nullptr},
          {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "w7"}}}};
}
inline constexpr int kTokens = 23;  // of every model

/// A folder as Transformers writes it.
class FamilyFolder : public training::FolderTestCase {
 protected:
  void write_text(const std::string& name, const std::string& text) const {
    training::write_durably(folder() / name, text);
  }
  void write(const nlohmann::json& config, const training::Tensors& tensors) const {
    write_text("config.json", config.dump());
    write_text("model.safetensors", training::to_safetensors(tensors));
  }
  void write_family(const std::string& name) const {
    write(families().at(name).at("config"), tensors_of(families().at(name)));
  }
  /// Makes a run of the folder.
  void import_as(const std::string& run, const std::filesystem::path& tokenizers = {}) const {
    import_huggingface({.from = folder(),
                        .to = folder() / run,
                        .config = {},
                        .tokenizers = tokenizers,
                        .names = {}});
  }
  /// What is read of it.
  HubCheckpoint read(const nlohmann::json& config, const training::Tensors& tensors) const {
    write(config, tensors);
    return read_huggingface(folder());
  }
};

}  // namespace ablate::exchange
