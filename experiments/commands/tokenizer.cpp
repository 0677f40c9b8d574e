#include "tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data/corpus.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/lines.h"
#include "experiments/commands/section_flags.h"
#include "experiments/config/yaml/value.h"
#include "training/storage/durable_file.h"

namespace ablate::commands {
namespace {

struct TokenizerRequest {
  std::vector<std::string> input;
  std::string model;
  SectionFlags options;
  bool tokens = false;
  bool json = false;
};

void train_tokenizer(const TokenizerRequest& request) {
  const auto options = request.options.read().tokenizer;
  std::vector<std::string> lines;
  for (const auto& file : request.input) {
    auto read = read_text(file);
    if (read.empty()) throw data::DataError(file + ": the file is empty");
    std::ranges::move(read, std::back_inserter(lines));
  }
  const auto model = tokenizer::Tokenizer::train(options, lines);
  training::write_durably(request.model, model.bytes());
  std::cerr << fmt::format("{}: {} tokens from {} lines, SHA-256 {}\n", request.model,
                           model.vocabulary_size(), lines.size(), model.sha256());
  if (options.vocabulary && model.vocabulary_size() < *options.vocabulary)
    std::cerr << fmt::format("these are fewer than --vocabulary {}: the text has no more\n",
                             *options.vocabulary);
}

/// Prints a line for every line of standard input, as they come.
void answer_lines(const std::function<std::string(const std::string&)>& answer) {
  InputLines input;
  while (const auto line = input.next()) {
    std::cout << answer(*line) << '\n';
    if (input.pauses()) std::cout.flush();
  }
}

void encode(const TokenizerRequest& request) {
  const auto model = tokenizer::Tokenizer::load(request.model);
  answer_lines([&](const std::string& line) {
    return request.tokens ? fmt::format("{}", fmt::join(model.tokens(line), " "))
                          : fmt::format("{}", fmt::join(model.encode(line), " "));
  });
}

std::vector<int32_t> read_ids(const std::string& line, size_t number, int64_t vocabulary) {
  std::vector<int32_t> ids;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const auto id =
        config::parse_integer({.type = config::Value::Type::scalar, .scalar = word}).value;
    if (!id || *id < 0 || *id > std::numeric_limits<int32_t>::max())
      throw data::DataError(
          fmt::format("standard input:{}: '{}' is not the id of a token", number, word));
    if (*id >= vocabulary)
      throw data::DataError(
          fmt::format("standard input:{}: {} is not the id of a token; the model "
                      "has ids from 0 to {}",
                      number, *id, vocabulary - 1));
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

void decode(const TokenizerRequest& request) {
  const auto model = tokenizer::Tokenizer::load(request.model);
  size_t number = 0;
  answer_lines([&](const std::string& line) {
    return data::one_line(model.decode(read_ids(line, ++number, model.vocabulary_size())));
  });
}

void info(const TokenizerRequest& request) {
  const auto model = tokenizer::Tokenizer::load(request.model);
  if (request.json) {
    std::cout << nlohmann::json{{"tokens", model.vocabulary_size()},
                                {"bytes", model.bytes().size()},
                                {"sha256", model.sha256()}}
                     .dump()
              << "\n";
    return;
  }
  std::cout << fmt::format("tokens: {}\nbytes: {}\nsha256: {}\n", model.vocabulary_size(),
                           model.bytes().size(), model.sha256());
}

CLI::App* add(CLI::App& verb, TokenizerRequest& request, const std::string& name,
              const std::string& text) {
  auto* added = verb.add_subcommand(name, text);
  added->add_option("--model", request.model, "The tokenizer's model file")->required();
  return added;
}

}  // namespace

void add_tokenizer(CLI::App& app) {
  auto request = std::make_shared<TokenizerRequest>();
  auto* verb = app.add_subcommand("tokenizer", "Train and use a tokenizer by itself");
  verb->require_subcommand(1);
  auto* train_verb = add(*verb, *request, "train", "Learn a model from text files");
  train_verb->add_option("--input", request->input, "Text files, plain or gzip")->required();
  request->options.add(*train_verb, "tokenizer", {.left_out = {"joint", "dropout", "file"}});
  train_verb->footer(
      "Example:\n  ablate tokenizer train --input a.en a.de --model joint.model --kind bpe "
      "--vocabulary 8000");
  train_verb->callback([request] { train_tokenizer(*request); });
  auto* encode_verb = add(*verb, *request, "encode", "Standard input to ids, line by line");
  encode_verb->add_flag("--tokens", request->tokens, "Print tokens instead of ids");
  encode_verb->footer("Example:\n  echo 'a line' | ablate tokenizer encode --model joint.model");
  encode_verb->callback([request] { encode(*request); });
  auto* decode_verb = add(*verb, *request, "decode", "Ids to text, line by line");
  decode_verb->footer("Example:\n  echo '17 4 9' | ablate tokenizer decode --model joint.model");
  decode_verb->callback([request] { decode(*request); });
  auto* info_verb = add(*verb, *request, "info", "Size and checksum of a model");
  info_verb->add_flag("--json", request->json, "Print one JSON object");
  info_verb->footer("Example:\n  ablate tokenizer info --model joint.model");
  info_verb->callback([request] { info(*request); });
}

}  // namespace ablate::commands
