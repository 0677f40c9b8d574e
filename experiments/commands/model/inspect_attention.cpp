#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "data/batch.h"
#include "experiments/cli/shell_completion.h"
#include "experiments/commands/model/model_commands.h"
#include "experiments/errors.h"
#include "experiments/report/page/attention_page.h"
#include "experiments/run/load_run.h"
#include "training/storage/durable_file.h"
#include "training/update.h"

namespace ablate::commands {
namespace {

constexpr size_t kMostTokens = 64;  // of a side: a page of more could not be looked at

struct InspectAttentionRequest {
  std::string run, checkpoint, text;
  std::optional<std::string> target;
  std::string to = "attention.html";
};

/// The tokens of one row of ids, none where it is undefined; a leading U+2581 stands for a space.
/// // [1, T]
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

/// Sorts the attentions of a pass, in the order of the layers, by what they are of.
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
        if (std::holds_alternative<models::MultiHead>(layer.attention))
          take(reads ? encoder : decoder, i, own, own);
        if (std::holds_alternative<models::MultiHead>(layer.cross_attention))
          take(memory, i, target_, source_);
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

/// Padded ids of what the model reads and writes. // [1, S], [1, T]
struct AttentionInputs {
  torch::Tensor source, target;  // an encoder alone has no target, a decoder alone no source
};

/// The target is the given one, or else what the model writes itself.
AttentionInputs attention_inputs(const InspectAttentionRequest& request, run::LoadedRun& run) {
  const auto& format = run.format;
  const auto source = format.encode_source(request.text, run.tokenizers);
  if (!source) throw UsageError("--text is blank; give the model something to read");
  if (run.experiment.model.family == models::Family::encoder_only)
    return {.source = torch::tensor(source->ids, torch::kLong).unsqueeze(0)};
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
      "attention", "Draw what every layer and head of a run attends to, for one text");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--text", request->text, "What the model reads")->required();
  verb->add_option("--target", request->target, "What it is to write; absent: its own output");
  verb->add_option("--to", request->to, "The HTML file")->capture_default_str();
  verb->add_option("--checkpoint", request->checkpoint, "Which weights")
      ->type_name(cli::kCheckpoint);
  verb->footer(
      "Example:\n  ablate inspect attention runs/multi30k/text/base/seed-1 --text \"A man sits.\"");
  verb->callback([request] { inspect_attention(*request); });
}

}  // namespace ablate::commands
