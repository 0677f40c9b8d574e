#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "data/batch.h"
#include "experiments/command_line/completion.h"
#include "experiments/commands/commands.h"
#include "experiments/exit_code.h"
#include "experiments/plot/attention_page.h"
#include "experiments/run_folder.h"
#include "training/checkpoint/durable_file.h"
#include "training/update.h"

namespace ablate::experiments {
namespace {

constexpr size_t kMostPieces = 64;  // of a side: a page of more could not be looked at

struct InspectAttentionRequest {
  std::string run, checkpoint, text;
  std::optional<std::string> target;
  std::string to = "attention.html";
};

/// The pieces of one row of ids; a leading U+2581 stands for a space.
std::vector<std::string> pieces_of(const torch::Tensor& ids, const tokenizer::Tokenizer& pieces) {
  std::vector<std::string> texts;
  const auto row = ids.cpu().contiguous();
  for (int64_t i = 0; i < row.size(0); ++i)
    texts.push_back(pieces.piece(static_cast<int32_t>(row[i].item<int64_t>())));
  if (texts.size() > kMostPieces)
    throw UsageError(fmt::format("the text has {} pieces; at most {} fit on a page: shorten it",
                                 texts.size(), kMostPieces));
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

bool attends(const models::TransformerOptions& model, models::Side side) {
  return std::holds_alternative<models::MultiHead>(models::stack_of(model, side).attention);
}

/// Sorts the attentions of a pass, in the order of the layers, by what they are of.
class Sorter {
 public:
  Sorter(const std::vector<torch::Tensor>& attentions, std::vector<std::string> source,
         std::vector<std::string> target)
      : attentions_(attentions), source_(std::move(source)), target_(std::move(target)) {}

  std::vector<AttentionGroup> sorted(const models::TransformerOptions& model) {
    using models::Family, models::Side;
    AttentionGroup encoder{"Encoder, self-attention", {}}, decoder{"Decoder, self-attention", {}},
        memory{"Decoder, over the source", {}};
    if (model.family != Family::decoder_only)
      for (int64_t i = 0; i < models::stack_of(model, Side::encoder).layers; ++i)
        if (attends(model, Side::encoder)) take(encoder, i, source_, source_);
    if (model.family != Family::encoder_only)
      for (int64_t i = 0; i < models::stack_of(model, Side::decoder).layers; ++i) {
        if (attends(model, Side::decoder)) take(decoder, i, target_, target_);
        if (models::cross_attention_of(model)) take(memory, i, target_, source_);
      }
    std::vector<AttentionGroup> groups;
    for (auto& group : {encoder, decoder, memory})
      if (!group.layers.empty()) groups.push_back(group);
    return groups;
  }

 private:
  void take(AttentionGroup& group, int64_t layer, const std::vector<std::string>& queries,
            const std::vector<std::string>& keys) {
    group.layers.push_back(
        {fmt::format("layer {}", layer + 1), queries, keys, heads_of(attentions_.at(next_++))});
  }

  const std::vector<torch::Tensor>& attentions_;
  std::vector<std::string> source_, target_;
  size_t next_ = 0;
};

/// What the model reads and writes: the given target, or else what it writes itself.
data::EncodedExample example_of(const InspectAttentionRequest& request, LoadedRun& run) {
  auto& translator = run.translator;
  auto& experiment = run.experiment;
  if (std::holds_alternative<data::Labelled>(experiment.data))
    return data::encode_labelled(std::vector<data::Example>{{request.text, ""}},
                                 translator.tokenizers, translator.max_length)
        .examples.front();
  std::string target = request.target.value_or("");
  if (!request.target && experiment.model.family != models::Family::encoder_only)
    target = training::translate(translator, std::vector{request.text}, experiment.decoding)
                 .front()
                 .text;
  return training::encode_for(experiment.model.family, translator.tokenizers,
                              std::vector<data::Example>{{request.text, target}},
                              translator.max_length)
      .examples.front();
}

void inspect_attention(const InspectAttentionRequest& request) {
  const torch::NoGradGuard no_grad;
  auto run = load_run(request.run, request.checkpoint);
  auto& model = run.translator.model;
  const auto example = example_of(request, run);
  const auto tensors =
      training::to_tensors(data::collate(std::vector{example}, std::vector<int64_t>{0}),
                           model->output_weight().device());
  std::vector<torch::Tensor> attentions;
  const models::Observer observer{
      .attention = [&](const torch::Tensor& probabilities) { attentions.push_back(probabilities); },
      .feed_forward_input = {}};
  model->hidden(tensors.source, tensors.target_in, {.observer = &observer});
  if (attentions.empty()) throw UsageError(request.run + " has no attention to show");
  const auto& tokenizers = run.translator.tokenizers;
  const bool alone = run.experiment.model.family == models::Family::decoder_only;
  Sorter sorter(
      attentions,
      alone ? std::vector<std::string>() : pieces_of(tensors.source[0], tokenizers.source),
      run.experiment.model.family == models::Family::encoder_only
          ? std::vector<std::string>()
          : pieces_of(tensors.target_in[0], tokenizers.target));
  training::write_durably(request.to, attention_page(fmt::format("Attention of {}", request.run),
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
  verb->add_option("--checkpoint", request->checkpoint, "Which weights")->type_name(kCheckpoint);
  verb->footer(
      "Example:\n  ablate inspect attention runs/multi30k/text/base/seed-1 --text \"A man sits.\"");
  verb->callback([request] { inspect_attention(*request); });
}

}  // namespace ablate::experiments
