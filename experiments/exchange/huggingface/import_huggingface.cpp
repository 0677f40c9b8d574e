#include "experiments/exchange/huggingface/import_huggingface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/exchange/huggingface/config_fields.h"
#include "experiments/exchange/huggingface/read_tokenizer.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

/// A configuration around the model; its data are files that a user replaces.
config::Experiment experiment_of(const ImportRequest& request, models::Family family) {
  if (!request.config.empty()) return config::read_experiment(request.config);
  config::Experiment experiment;
  if (family == models::Family::encoder_decoder) {
    const std::vector<std::string> files{"source.txt", "target.txt"};
    experiment.data = data::Text{.train = files, .validation = files, .test = files};
  } else {
    experiment.data = data::Language{.train = "text.txt"};
  }
  experiment.tokenizer.mask = family == models::Family::encoder_only;
  return experiment;
}

TokenizerSpecials said_by(const HubTokenizer& files) {
  const auto first = [](const std::vector<int32_t>& ids) {
    return ids.empty() ? std::optional<int32_t>() : ids.front();
  };
  return {.named = files.special,
          .start = first(files.around.before),
          .end = first(files.around.behind)};
}

/// The ids of a run's tokenizer are those of the folder's vocabulary.
TokenizerSpecials said_by(const data::Tokenizers& run) {
  const auto& special = run.source.specials();
  return {.named = special, .start = special.bos, .end = special.eos};
}

/// Throws UsageError unless both have the same token under each of our ids.
void require_same_ids(const tokenizer::IdMap& model, const tokenizer::IdMap& tokens,
                      const std::string& folder) {
  if (model.size() != tokens.size())
    throw UsageError(
        fmt::format("{} has {} tokens, and the tokenizer {}", folder, model.size(), tokens.size()));
  for (int32_t id = 0; id < model.size(); ++id)
    if (model.theirs(id) != tokens.theirs(id))
      throw UsageError(
          fmt::format("{} has other special tokens than the tokenizer, by which other tokens have "
                      "the ids from {} on",
                      folder, id));
}

/// The fields of Transformers 5.24 that change which text is written, with the values of plain
/// greedy search; ids that are absent are null.
const std::map<std::string, nlohmann::json>& greedy_search() {
  static const std::map<std::string, nlohmann::json> kFields{
      {"bad_words_ids", nullptr},
      {"begin_suppress_tokens", nullptr},
      {"constraints", nullptr},
      {"do_sample", false},
      {"encoder_no_repeat_ngram_size", 0},
      {"encoder_repetition_penalty", 1.0},
      {"exponential_decay_length_penalty", nullptr},
      {"force_words_ids", nullptr},
      {"forced_bos_token_id", nullptr},
      {"forced_decoder_ids", nullptr},
      {"guidance_scale", 1.0},
      {"min_length", 0},
      {"min_new_tokens", nullptr},
      {"no_repeat_ngram_size", 0},
      {"num_beam_groups", 1},
      {"num_beams", 1},
      {"penalty_alpha", nullptr},
      {"repetition_penalty", 1.0},
      {"sequence_bias", nullptr},
      {"stop_strings", nullptr},
      {"suppress_tokens", nullptr},
      {"watermarking_config", nullptr}};
  return kFields;
}

/// The ids by which Transformers begins and ends an output, if the folder's generation_config.json
/// names others than its config.json, of which the run has the first.
std::vector<std::string> other_ends(const nlohmann::json& said, const nlohmann::json& model) {
  std::vector<std::string> words;
  for (const auto* name : {"decoder_start_token_id", "eos_token_id"}) {
    if (!model.contains(name) || !said.contains(name)) continue;
    const auto own = model[name], other = said[name];
    const auto first = own.is_array() && !own.empty() ? own.front() : own;
    const auto alone = nlohmann::json::array({first});
    if (!first.is_null() && !other.is_null() && other != first && other != alone)
      words.push_back(fmt::format("{} {}", name, other.dump()));
  }
  return words;
}

}  // namespace

void import_huggingface(const ImportRequest& request) {
  if (!request.names.empty()) throw UsageError("--from huggingface takes no --names");
  std::optional<data::Tokenizers> given;
  if (!request.tokenizers.empty()) given = run::load_tokenizers(request.tokenizers);
  const auto files = given ? HubTokenizer{} : read_tokenizer(request.from);
  const auto read = read_huggingface(request.from, given ? said_by(*given) : said_by(files));
  const auto tokenizers = given ? *given : tokenizers_of(files, read);
  for (const auto* one : {&tokenizers.source, &tokenizers.target})
    require_same_ids(read.ids, one->ids(), request.from.string());
  auto environment = nlohmann::json{
      {"imported_from", std::filesystem::absolute(request.from).string()}, {"data_folder", "."}};
  const auto config = parse_config(training::read_bytes(request.from / "config.json"));
  if (config.contains("max_position_embeddings"))
    environment["max_position_embeddings"] = config["max_position_embeddings"];
  auto experiment = experiment_of(request, read.options.family);
  experiment.model = read.options;
  require_rules(options::slot_of(experiment), "", request.from.string());
  run::write_new_run(request.to, {.experiment = experiment,
                                  .tokenizers = tokenizers,
                                  .weights = read.weights,
                                  .environment = environment,
                                  .files = {}});
}

std::string unread_generation(const std::filesystem::path& folder) {
  const auto file = folder / "generation_config.json";
  const auto model = parse_config(training::read_bytes(folder / "config.json"));
  const bool own = std::filesystem::exists(file);
  const auto said = own ? parse_config(training::read_bytes(file)) : model;
  auto words = own ? other_ends(said, model) : std::vector<std::string>();
  for (const auto& [name, greedy] : greedy_search())
    if (said.contains(name) && !said[name].is_null() && said[name] != greedy)
      words.push_back(name + " " + said[name].dump());
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace ablate::exchange
