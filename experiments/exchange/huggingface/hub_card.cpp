#include "experiments/exchange/huggingface/hub_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/records/result.h"
#include "experiments/records/run_start.h"
#include "tokenizer/foreign.h"
#include "tokenizer/model_trainer.h"
#include "tokenizer/special_tokens.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

constexpr const char* kImportedLength = "max_position_embeddings";

std::string number(double value) {
  return std::isnan(value) ? std::string("\u2013") : fmt::format("{:.4g}", value);
}

/// How its texts are to be written.
std::vector<std::string> notes_on_texts(const run::LoadedRun& run,
                                        const std::string& architecture) {
  std::vector<std::string> notes;
  const auto* tokens = std::get_if<data::Tokens>(&run.experiment.data);
  const auto* language = std::get_if<data::Language>(&run.experiment.data);
  if (tokens != nullptr && tokens->mask_documents)
    notes.push_back(fmt::format(
        "It was trained and scored with a mask between documents (data.mask_documents), which {} "
        "does not have: give it one document at a time, the end token first. On several in one "
        "sequence the scores do not hold.",
        architecture));
  if (tokens != nullptr && tokens->vocabulary)
    notes.push_back(fmt::format(
        "Number n of its files of tokens has the id n + {} here{}.", tokenizer::kFirstNumber,
        tokens->end_token ? fmt::format(", and their end token {} has the id {}",
                                        *tokens->end_token, tokenizer::kEos)
                          : ""));
  if (language != nullptr && run.format.continues_text())
    notes.push_back(
        "Each line of its text ended with the end token, which it therefore writes at the end of a "
        "line: that is where generation stops, and where a prompt of several lines needs it. The "
        "tokenizer reads a line break as other text.");
  if (run.format.fills_masks())
    notes.push_back(
        fmt::format("It was trained by masked diffusion (data.diffusion): its scores "
                    "are bounds over many masks, and {} has no sampler for it.",
                    architecture));
  if (run.experiment.model.family == models::Family::decoder_only && !run.format.continues_text())
    notes.push_back(
        "It reads a start token, a source and an end token, and then writes the target and an end "
        "token.");
  return notes;
}

}  // namespace

std::vector<std::string> hub_notes(const run::LoadedRun& run, const std::string& architecture,
                                   torch::ScalarType type) {
  auto notes = notes_on_texts(run, architecture);
  if (const auto heads = models::heads_ahead(run.experiment.model); heads > 0)
    notes.push_back(fmt::format(
        "{} further {} (model.output.ahead), which only training and drafts read, {} left out.",
        heads, heads == 1 ? "head" : "heads", heads == 1 ? "is" : "are"));
  const auto& decoding = run.experiment.decoding;
  const auto* sampling = std::get_if<models::RandomSampling>(&decoding.sampling);
  if (data::writes_outputs(run.format.compared()) &&
      run.experiment.model.family != models::Family::encoder_only)
    notes.push_back(fmt::format(
        "Its outputs were limited to 10 + {} times the source's tokens (decoding.max_ratio), for "
        "which generation_config.json has no field.",
        number(decoding.max_ratio)));
  if (sampling != nullptr && sampling->top_k > 0 && sampling->top_p < 1)
    notes.push_back(
        "decoding.top_p was a share of all tokens; Transformers takes it of the top_k likeliest.");
  const auto& tokenizer = run.tokenizers.target;
  const bool imported = tokenizer::is_json(tokenizer.file()) && tokenizer.framing();  // Qwen2's own
  if (architecture == "Qwen2ForCausalLM" && !imported)
    notes.push_back(
        "AutoTokenizer of Transformers 5 reads texts of this family by Qwen2's rules, whatever "
        "tokenizer.json says, and gives other ids: load it by "
        "PreTrainedTokenizerFast.from_pretrained.");
  if (type == torch::kBFloat16)
    notes.push_back("Its weights are rounded to bfloat16; the scores are those of float32.");
  return notes;
}

std::string hub_card(const std::filesystem::path& run, const run::LoadedRun& loaded,
                     const std::string& architecture, const std::vector<std::string>& notes) {
  auto card = fmt::format("# {}\n\nA {} trained by Ablate {}, weights: {}.\n",
                          run.filename().string(), architecture, ABLATE_VERSION, loaded.weights);
  if (!notes.empty()) card += "\n";
  for (const auto& note : notes) card += fmt::format("- {}\n", note);
  const auto result = records::read_result(run);
  if (!result || result->tests.empty()) return card;
  if (result->weights != loaded.weights)  // --checkpoint names others
    return card + fmt::format("\nThe run's scores are of other weights: {}.\n", result->weights);
  card += fmt::format(
      "\nStudy {}, task {}, arm {}, seed {}: {} parameters, {} updates.\n\n"
      "| test set | loss | perplexity | exact match | BLEU |\n|---|---:|---:|---:|---:|\n",
      result->study, result->task, result->arm, result->seed, result->parameters, result->steps);
  for (const auto& test : result->tests)
    card +=
        fmt::format("| {} | {} | {} | {} | {} |\n", test.name, number(std::log(test.perplexity)),
                    number(test.perplexity), number(test.exact_match), number(test.bleu));
  return card;
}

json hub_generation(const models::SearchOptions& decoding, const json& config,
                    const std::vector<int32_t>& order, const std::vector<int64_t>& unwritten) {
  json chosen{{"max_new_tokens", decoding.max_length}};
  for (const auto* name :
       {"pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"})
    if (config.contains(name)) chosen[name] = config.at(name);
  if (decoding.min_length > 0) chosen["min_new_tokens"] = decoding.min_length;
  // Transformers 5.24 makes T5's cache as deep as the encoder.
  if (config.value("num_decoder_layers", int64_t{0}) > config.value("num_layers", int64_t{0}))
    chosen["use_cache"] = false;
  auto suppressed = json::array();
  for (size_t id = 0; id < order.size(); ++id)
    if (order[id] == tokenizer::kPad || order[id] == tokenizer::kBos ||
        std::ranges::count(unwritten, order[id]) > 0)
      suppressed.push_back(id);
  if (!suppressed.empty()) chosen["suppress_tokens"] = suppressed;
  if (const auto* sampling = std::get_if<models::RandomSampling>(&decoding.sampling))
    chosen.update({{"do_sample", true},
                   {"temperature", sampling->temperature},
                   {"top_k", sampling->top_k},
                   {"top_p", sampling->top_p}});
  else if (decoding.beam > 1)
    chosen.update({{"num_beams", decoding.beam},
                   {"length_penalty", decoding.length_penalty},
                   {"early_stopping", true}});  // at as many ended outputs as beams, as is_done()
  return chosen;
}

std::optional<int64_t> trained_length(const std::filesystem::path& run,
                                      const run::LoadedRun& loaded) {
  const auto recorded = records::recorded_environment(run);
  if (!recorded.is_object() || !recorded.contains("imported_from"))
    return loaded.format.longest_sequence(0);
  const auto length = recorded.find(kImportedLength);
  if (length == recorded.end() || !length->is_number_integer()) return {};
  return length->get<int64_t>();
}

}  // namespace ablate::exchange
