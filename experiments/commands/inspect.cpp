#include <fmt/format.h>

#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <type_traits>
#include <variant>

#include "data/batch.h"
#include "data/corpus.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/number_flags.h"
#include "experiments/commands/position_pictures.h"
#include "experiments/config/schema/printer.h"
#include "experiments/config/study/study.h"
#include "experiments/errors.h"
#include "experiments/report/page/attention_page.h"
#include "experiments/run/load_run.h"
#include "experiments/run/model_cost.h"
#include "experiments/run/module_tree.h"
#include "models/position/position.h"
#include "models/transformer.h"
#include "tokenizer/tokenizer.h"
#include "training/storage/durable_file.h"
#include "training/update.h"

namespace ablate::commands {
namespace {

struct InspectRequest {
  std::string study;
  std::string data;
  std::optional<int64_t> vocabulary;
  int64_t length = 32;
};

/// The vocabulary of a run's model. Throws UsageError if only data says it that cannot be read.
run::CountedVocabulary vocabulary_for(const InspectRequest& request,
                                      const std::filesystem::path& folder,
                                      const config::RunSpecification& run) {
  const auto refuse = [&](const std::exception& error) {
    return UsageError(fmt::format(
        "the data decides on the vocabulary of {}/{}, and it cannot be read ({}); give its folder "
        "with --data, or a number of tokens with --vocabulary",
        run.task, run.arm, error.what()));
  };
  try {
    return run::counted_vocabulary(run.experiment, folder, request.vocabulary);
  } catch (const data::DataError& error) {
    throw refuse(error);
  } catch (const tokenizer::TokenizerError& error) {
    throw refuse(error);
  }
}

/// "a vocabulary of 2000 (tokenizer.vocabulary)", "vocabularies of 900 and 1000 (the data)"
std::string text_of(const run::CountedVocabulary& vocabulary, bool labels) {
  const auto source = vocabulary.sizes.source, target = vocabulary.sizes.target;
  const auto numbers = labels ? fmt::format("a vocabulary of {}", source)
                       : source == target
                           ? fmt::format("a vocabulary of {}", target)
                           : fmt::format("vocabularies of {} and {}", source, target);
  return fmt::format("{} ({}){}", numbers, vocabulary.origin,
                     labels ? fmt::format(" and {} classes (the data)", target) : "");
}

void print_differences(const config::Experiment& base, const config::Experiment& arm) {
  for (const auto& change : config::differences(base, arm))
    std::cout << fmt::format("  differs: {} is {} instead of {}\n", change.path,
                             change.right.empty() ? "absent" : change.right,
                             change.left.empty() ? "absent" : change.left);
}

void inspect_model(const InspectRequest& request) {
  std::map<std::string, const config::RunSpecification*> base;  // the first arm of each task
  std::set<std::string> shown;
  config::Selection selection{.count = run::counted_parameters(), .parts = run::check_parts};
  if (!request.data.empty()) selection.data_folder = data_folder(request.data);
  const auto study = config::read_study(request.study, selection);
  for (const auto& run : study.runs) {
    if (!shown.insert(run.task + "/" + run.arm).second) continue;
    const auto vocabulary = vocabulary_for(request, study.data_folder, run);
    const models::Transformer model(run.experiment.model, vocabulary.sizes);
    const auto cost = run::cost_of(run.experiment.model, vocabulary.sizes, request.length);
    std::cout << fmt::format(
        "{}/{}: {} parameters{} with {}, {:.3f} MFLOPs and {:.1f} kB of activations per token\n",
        run.task, run.arm, cost.parameters,
        cost.active_parameters < cost.parameters
            ? fmt::format(" ({} active)", cost.active_parameters)
            : "",
        text_of(vocabulary, model->labels()), cost.flops_per_token / 1e6,
        cost.activation_bytes_per_token / 1e3);
    if (base.contains(run.task))
      print_differences(base.at(run.task)->experiment, run.experiment);
    else
      base[run.task] = &run;
    std::cout << run::module_tree(*model) << "\n";
  }
  std::cout << fmt::format(
      "A source and a target of {0} tokens, whose forward pass in fp32 is divided by {0}.\n",
      request.length);
}

struct PositionsRequest {
  std::string plot;
  DrawnStack stack;
};

void inspect_positions(const PositionsRequest& request) {
  const auto mark = [](bool holds) { return holds ? "yes" : "no"; };
  constexpr auto kRow = "{:<15} {:<18} {:<12} {:<11} {:<13} {}\n";
  std::cout << fmt::format(kRow, "scheme", "acts on", "tells order", "shift-free", "position ids",
                           "beyond training");
  const auto print = [&](std::string_view name, const models::PositionTraits& scheme) {
    std::cout << fmt::format(kRow, name, scheme.acts_on, mark(scheme.tells_order),
                             mark(scheme.shift_free), mark(scheme.reads_position_ids),
                             scheme.beyond_training);
  };
  [&]<class... Schemes>(std::type_identity<std::variant<Schemes...>>) {
    (print(Schemes::name, Schemes::traits), ...);
  }(std::type_identity<models::PositionOptions>());
  std::cout
      << "Tells order: the scheme lets an encoder distinguish orders of its input.\nShift-free: "
         "shifting the whole source does not change the output.\nPosition ids: model.position_ids "
         "acts on the scheme.\nEvery scheme works in encoders and decoders of every family. Steps "
         "with the key/value cache equal the whole\nsequence, and an exported trace runs at other "
         "lengths. No scheme acts on cross-attention.\n";
  if (request.plot.empty()) return;
  training::write_durably(request.plot, position_page(request.stack));
  std::cerr << "drawn: " << request.plot << "\n";
}

void add_positions(CLI::App& verb) {
  auto request = std::make_shared<PositionsRequest>();
  auto* positions = verb.add_subcommand("positions", "Show the properties of the position schemes");
  auto* plot =
      positions->add_option("--plot", request->plot, "Draw the schemes into this HTML file");
  positions->add_option("--length", request->stack.length, "Positions drawn")
      ->needs(plot)
      ->check(between(2, 512))
      ->capture_default_str();
  positions
      ->add_flag("--causal", request->stack.context.causal,
                 "Draw a decoder's stack instead of an encoder's")
      ->needs(plot);
  positions->footer("Example:\n  ablate inspect positions --plot positions.html");
  positions->callback([request] { inspect_positions(*request); });
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto request = std::make_shared<InspectRequest>();
  auto* verb = app.add_subcommand("inspect", "Look into a study's models");
  verb->require_subcommand(1);
  auto* model = verb->add_subcommand("model", "Modules, parameters, FLOPs and memory of every arm");
  model->add_option("study", request->study, "The study's YAML file")->required();
  add_data_flag(*model, request->data);
  model
      ->add_option("--vocabulary", request->vocabulary,
                   "Tokens of the vocabulary; absent: as tokenizer.vocabulary says for text in "
                   "files, else as the data gives them, which is read")
      ->check(between(8, 1'048'576));
  model->add_option("--length", request->length, "Tokens of a source and of a target")
      ->check(between(1, 4096))
      ->capture_default_str();
  model->footer("Example:\n  ablate inspect model experiments/studies/quickstart.yaml");
  model->callback([request] { inspect_model(*request); });
  add_positions(*verb);
  add_inspect_attention(*verb);
}

namespace {

constexpr size_t kMostTokens = 64;  // of a side: a larger page would be unreadable

struct InspectAttentionRequest {
  std::string run, checkpoint, text;
  std::optional<std::string> target;
  std::string to = "attention.html";
};

/// The tokens of one row of ids, an empty list if it is undefined; a leading U+2581 is a space. //
/// [1, T]
std::vector<std::string> tokens_of(const torch::Tensor& ids,
                                   const tokenizer::Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  if (!ids.defined()) return texts;
  for (int64_t i = 0; i < ids.size(1); ++i)
    texts.push_back(tokenizer.token(static_cast<int32_t>(ids[0][i].item<int64_t>())));
  if (texts.size() > kMostTokens)
    throw UsageError(fmt::format("the text has {} tokens; at most {} fit on a page: shorten it",
                                 texts.size(), kMostTokens));
  return texts;
}

/// One example's probabilities. // [1, H, T, S] -> [H][T][S]
std::vector<std::vector<std::vector<double>>> heads_of(const torch::Tensor& probabilities) {
  const auto wide = probabilities[0].to(torch::kCPU, torch::kDouble).contiguous();  // [H, T, S]
  std::vector<std::vector<std::vector<double>>> heads(static_cast<size_t>(wide.size(0)));
  for (int64_t h = 0; h < wide.size(0); ++h)
    for (int64_t t = 0; t < wide.size(1); ++t) {
      const auto* row = wide[h][t].const_data_ptr<double>();
      heads[static_cast<size_t>(h)].emplace_back(row, row + wide.size(2));
    }
  return heads;
}

/// Sorts the attentions of a pass, in the order of the layers, by their kind.
class Sorter {
 public:
  Sorter(const std::vector<torch::Tensor>& attentions, std::vector<std::string> source,
         std::vector<std::string> target)
      : attentions_(attentions), source_(std::move(source)), target_(std::move(target)) {}

  std::vector<report::AttentionGroup> sorted(const models::TransformerOptions& model) {
    using models::Side;
    report::AttentionGroup encoder{"Encoder, self-attention", {}},
        decoder{"Decoder, self-attention", {}}, memory{"Decoder, over the source", {}};
    for (const auto side : {Side::encoder, Side::decoder}) {
      if (!models::has_side(model.family, side)) continue;
      const bool reads = side == Side::encoder;
      const auto stack = models::stack_of(model, side);
      for (int64_t i = 0; i < stack.depth; ++i) {
        const auto& layer = stack.layer(stack.layer_at(i));
        const auto& own = reads ? source_ : target_;
        if (traits_of(layer.attention).has_scores) take(reads ? encoder : decoder, i, own, own);
        if (models::is_sublayer(layer.cross_attention)) take(memory, i, target_, source_);
      }
    }
    std::vector<report::AttentionGroup> groups;
    for (auto& group : {encoder, decoder, memory})
      if (!group.layers.empty()) groups.push_back(group);
    return groups;
  }

 private:
  void take(report::AttentionGroup& group, int64_t layer, const std::vector<std::string>& queries,
            const std::vector<std::string>& keys) {
    group.layers.push_back(
        {fmt::format("layer {}", layer + 1), queries, keys, heads_of(attentions_.at(next_++))});
  }

  const std::vector<torch::Tensor>& attentions_;
  std::vector<std::string> source_, target_;
  size_t next_ = 0;
};

/// Padded ids of the model's input and output. // [1, S], [1, T]
struct AttentionInputs {
  torch::Tensor source, target;  // an encoder alone has no target, a decoder alone no source
};

/// The target is the given one, or else the model's own output.
AttentionInputs attention_inputs(const InspectAttentionRequest& request, run::LoadedRun& run) {
  const auto& format = run.format;
  const bool encodes = run.experiment.model.family == models::Family::encoder_only;
  if (encodes && request.target) refuse_unread({"--target"}, "on an encoder, which reads --text");
  const auto source = format.encode_source(request.text, run.tokenizers);
  if (!source) throw UsageError("--text is blank; give the model something to read");
  if (encodes) return {.source = torch::tensor(source->ids, torch::kLong).unsqueeze(0)};
  const auto target = request.target
                          ? *request.target
                          : training::translate(run.translator(), std::vector{request.text},
                                                run.experiment.decoding)[0]
                                .text;
  const std::vector<data::Example> pair{{request.text, target}};
  const auto set = format.encode_each(pair, run.tokenizers);
  const auto tensors =
      training::to_tensors(data::collate(set.examples, std::vector<int64_t>{0}), torch::kCPU);
  if (set.examples[0].source.empty()) return {.target = tensors.target_in};
  return {tensors.source, tensors.target_in};
}

void inspect_attention(const InspectAttentionRequest& request) {
  const torch::NoGradGuard no_grad;
  auto run = run::load_run(request.run, request.checkpoint);
  auto& model = run.model;
  const auto inputs = attention_inputs(request, run);
  const auto device = model->output_weight().device();
  const auto on_device = [&](const torch::Tensor& ids) {
    return ids.defined() ? ids.to(device) : ids;
  };
  std::vector<torch::Tensor> attentions;
  models::Observer observer;
  observer.attention = [&](const torch::Tensor& probabilities) {
    attentions.push_back(probabilities);
  };
  model->hidden(on_device(inputs.source), on_device(inputs.target), {.observer = &observer});
  if (attentions.empty()) throw UsageError(request.run + " has no attention to show");
  const auto& tokenizers = run.tokenizers;
  Sorter sorter(attentions, tokens_of(inputs.source, tokenizers.source),
                tokens_of(inputs.target, tokenizers.target));
  training::write_durably(request.to,
                          report::attention_page(fmt::format("Attention of {}", request.run),
                                                 sorter.sorted(run.experiment.model)));
  std::cerr << "drawn: " << request.to << "\n";
}

}  // namespace

void add_inspect_attention(CLI::App& inspect) {
  auto request = std::make_shared<InspectAttentionRequest>();
  auto* verb = inspect.add_subcommand(
      "attention", "Draw the attention of every layer and head of a run for one text");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--text", request->text, "Input text of the model")->required();
  verb->add_option("--target", request->target, "Output text; absent: the model's own output");
  verb->add_option("--to", request->to, "The HTML file")->capture_default_str();
  verb->add_option("--checkpoint", request->checkpoint, "Which weights")->type_name(kCheckpoint);
  verb->footer(
      "Example:\n  ablate inspect attention runs/multi30k/text/base/seed-1 --text \"A man sits.\"");
  verb->callback([request] { inspect_attention(*request); });
}

}  // namespace ablate::commands
