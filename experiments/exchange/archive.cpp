#include "experiments/exchange/archive.h"

#include <torch/csrc/jit/serialization/import.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/printer.h"
#include "experiments/exchange/format/seal.h"
#include "experiments/records/folders.h"
#include "tokenizer/model_trainer.h"
#include "tokenizer/special_tokens.h"
#include "training/device.h"
#include "training/storage/errors.h"

namespace ablate::exchange {
namespace {

constexpr int kFormat = 1;

nlohmann::json to_json(const ExportExamples& examples) {
  auto all = nlohmann::json::array();
  for (const auto& example : examples)
    all.push_back({{"source", example.source},
                   {"target", example.target},
                   {"given", example.prompt_length},
                   {"started", example.started}});
  return all;
}

ExportExamples examples_of(const nlohmann::json& json) {
  ExportExamples examples;
  for (const auto& one : json)
    examples.push_back({one.at("source").get<std::vector<int32_t>>(),
                        one.at("target").get<std::vector<int32_t>>(),
                        one.at("given").get<int64_t>(), one.value("started", true)});
  return examples;
}

/// The labels in labels.txt, which is empty if the model has no label head.
std::optional<data::Labels> labels_of(const std::string& text) {
  if (text.empty()) return {};
  return data::Labels::from_text(text);
}

/// The id in the tokenizer's file of each of ours; -1: it has no such token. The number that ends
/// documents in a file of tokens is the end token.
std::vector<int32_t> file_ids(const tokenizer::IdMap& ids, const data::DataOptions& data) {
  auto all = ids.theirs();
  const auto* tokens = std::get_if<data::Tokens>(&data);
  if (tokens != nullptr && tokens->end_token)
    all[tokenizer::kEos] =
        std::exchange(all[static_cast<size_t>(tokenizer::kFirstNumber + *tokens->end_token)], -1);
  return all;
}

/// How many numbers a model of token files reads; null: it reads text.
nlohmann::json count_of_numbers(const data::DataOptions& data) {
  const auto* tokens = std::get_if<data::Tokens>(&data);
  if (tokens == nullptr || !tokens->vocabulary) return nullptr;
  return *tokens->vocabulary;
}

bool masks_documents(const data::DataOptions& data) {
  const auto* tokens = std::get_if<data::Tokens>(&data);
  return tokens != nullptr && tokens->mask_documents;
}

nlohmann::json facts_of(const ExportContents& contents) {
  return {{"format", kFormat},
          {"source_ids", file_ids(contents.tokenizers.source.ids(), contents.experiment.data)},
          {"target_ids", file_ids(contents.tokenizers.target.ids(), contents.experiment.data)},
          {"ablate", ABLATE_VERSION},
          {"weights", contents.weights},
          {"pad", tokenizer::kPad},
          {"bos", tokenizer::kBos},
          {"eos", tokenizer::kEos},
          {"unk", tokenizer::kUnk},
          {"max_length", contents.experiment.training.max_length},
          {"family", config::word_of(contents.experiment.model.family)},
          {"running", data::is_running(contents.experiment.data)},
          {"mask_documents", masks_documents(contents.experiment.data)},
          {"numbers", count_of_numbers(contents.experiment.data)}};
}

[[noreturn]] void fail(const std::string& source, const std::string& why) {
  throw training::CheckpointError(source + ": " + why);
}

}  // namespace

std::string to_archive(const torch::jit::Module& module, const ExportContents& contents) {
  std::ostringstream stream;
  module.save(stream, {{records::kConfigFile, config::to_yaml(contents.experiment)},
                       {records::kSourceTokenizerFile, contents.tokenizers.source.bytes()},
                       {records::kTargetTokenizerFile, contents.tokenizers.target.bytes()},
                       {records::kLabelsFile,
                        contents.tokenizers.labels ? contents.tokenizers.labels->to_text() : ""},
                       {"examples.json", to_json(contents.examples).dump()},
                       {"ablate.json", facts_of(contents).dump(2)}});
  return sealed(std::move(stream).str());
}

Archive from_archive(const std::string& bytes, const std::string& source) {
  check_seal(bytes, source);
  torch::jit::ExtraFilesMap files{{records::kConfigFile, ""},
                                  {records::kSourceTokenizerFile, ""},
                                  {records::kTargetTokenizerFile, ""},
                                  {records::kLabelsFile, ""},
                                  {"examples.json", ""},
                                  {"ablate.json", ""}};
  try {
    std::istringstream stream(bytes);
    auto module = torch::jit::load(stream, torch::kCPU, files);
    const auto facts = nlohmann::json::parse(files.at("ablate.json"));
    if (facts.at("format").get<int>() != kFormat)
      fail(source, "was written by another version of Ablate, in format " + facts["format"].dump());
    auto config = std::make_shared<config::Source>(source + ":" + records::kConfigFile,
                                                   files.at(records::kConfigFile));
    return {
        std::move(module),
        {.experiment = config::read_experiment(config),
         .tokenizers = {tokenizer::Tokenizer::from_bytes(files.at(records::kSourceTokenizerFile)),
                        tokenizer::Tokenizer::from_bytes(files.at(records::kTargetTokenizerFile)),
                        labels_of(files.at(records::kLabelsFile))},
         .examples = examples_of(nlohmann::json::parse(files.at("examples.json"))),
         .weights = facts.at("weights").get<std::string>()}};
  } catch (const c10::Error& error) {
    if (training::is_out_of_memory(error)) throw;
    fail(source, std::string("cannot be read: ") + error.what_without_backtrace());
  } catch (const nlohmann::json::exception&) {
    fail(source, "lacks files that `ablate export` writes beside the model");
  }
}

}  // namespace ablate::exchange
