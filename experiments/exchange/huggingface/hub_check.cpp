#include "experiments/exchange/huggingface/hub_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/exchange/huggingface/hub_forward.h"
#include "experiments/exchange/huggingface/read_tokenizer.h"
#include "models/torchscript/torchscript.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;
using training::CheckpointError;

constexpr int64_t kRows = 4, kLength = 12;
constexpr int64_t kLong = 160;       // beyond T5's usual farthest distance
constexpr int64_t kLongest = 2'048;  // of learned positions: scores grow with the square

/// Our ids of texts, padded. // [B, S], [B, T]
struct Texts {
  torch::Tensor source, target;
};

/// Tokens of the folder, all of a small vocabulary, and special ones among them. // [rows, length]
torch::Tensor drawn(const HubVocabulary& vocabulary, int64_t rows, int64_t length, int64_t first) {
  std::vector<int64_t> tokens;
  for (const auto id : vocabulary.order)
    if (id != tokenizer::kPad && id != tokenizer::kBos) tokens.push_back(id);
  const auto count = static_cast<int64_t>(tokens.size());
  const auto places = (torch::arange(rows * length) * 7 + first).remainder(count);
  return torch::tensor(tokens).index_select(0, places).view({rows, length});
}

/// The row ends after `length` tokens, the last of which is an end token.
void cut(torch::Tensor row, int64_t length) {
  row[length - 1] = tokenizer::kEos;
  row.slice(0, length).fill_(tokenizer::kPad);
}

/// Rows begin with the start token, unless it is only another name of a token that a model without
/// a start reads.
Texts small_texts(const HubVocabulary& vocabulary, bool pair) {
  const bool starts =
      pair || std::ranges::find(vocabulary.order, tokenizer::kBos) != vocabulary.order.end();
  Texts texts{drawn(vocabulary, kRows, kLength, 1), drawn(vocabulary, kRows, kLength, 3)};
  for (auto* side : {&texts.source, &texts.target}) {
    if (starts) side->select(1, 0).fill_(tokenizer::kBos);
    (*side)[1][kLength / 2] = tokenizer::kEos;
    cut((*side)[2], kLength / 2);
    cut((*side)[3], 2);
  }
  return texts;
}

Texts long_text(const models::Transformer& model, const HubVocabulary& vocabulary) {
  const bool learned = std::holds_alternative<models::Learned>(model->options().layer.position);
  const auto length = std::min(models::longest_length(*model), learned ? kLongest : kLong);
  return {drawn(vocabulary, 1, length, 2), drawn(vocabulary, 1, length, 4)};
}

/// The folder's ids of ours; of padding, which is hidden, any. // [B, T]
torch::Tensor in_folder(const torch::Tensor& ids, const HubVocabulary& vocabulary) {
  constexpr int64_t kNone = -1;
  const auto most = std::ranges::max(vocabulary.order);
  std::vector<int64_t> theirs(static_cast<size_t>(std::max(most, tokenizer::kUnk)) + 1, kNone);
  for (size_t id = 0; id < vocabulary.order.size(); ++id)
    theirs[static_cast<size_t>(vocabulary.order[id])] = static_cast<int64_t>(id);
  auto& start = theirs[tokenizer::kBos];  // may be another special token's, too, or none
  if (start == kNone) start = vocabulary.special.bos.value_or(vocabulary.special.eos.value_or(0));
  if (theirs[tokenizer::kPad] == kNone) theirs[tokenizer::kPad] = 0;
  return torch::tensor(theirs).index_select(0, ids.flatten()).view(ids.sizes());
}

json config_in(const std::filesystem::path& folder) {
  return training::parse_json(training::read_bytes(folder / "config.json"));
}

/// One folder with its model.
struct Comparison {
  models::Transformer& model;
  const HubVocabulary& vocabulary;
  json config;
  training::Tensors tensors;

  /// Of the last positions, or of all. The shares of all tokens are compared, since Marian's logits
  /// may be all higher by one number.
  double difference(const Texts& texts, int64_t last) const {
    const bool pair = model->family() == models::Family::encoder_decoder;
    const auto& read =
        model->family() == models::Family::decoder_only ? texts.target : texts.source;
    const auto& answered = pair ? texts.target : read;
    const HubInput input{.ids = in_folder(read, vocabulary),
                         .mask = read.ne(tokenizer::kPad),
                         .target = pair ? in_folder(texts.target, vocabulary) : torch::Tensor(),
                         .last = last};
    auto hidden = model->hidden(texts.source, texts.target).hidden;
    if (last > 0) hidden = hidden.slice(1, -last);
    const auto order = torch::tensor(vocabulary.order, torch::kLong);
    const auto ours = model->project(hidden).index_select(-1, order);
    const auto shown = answered.ne(tokenizer::kPad).slice(1, -hidden.size(1)).unsqueeze(-1);
    const auto theirs = hub_logits(config, tensors, input);
    if (theirs.sizes() != ours.sizes())
      throw CheckpointError("config.json has another vocabulary than its tensors");
    const double scale = std::max(1.0, ours.abs().max().item<double>());
    return (ours.log_softmax(-1) - theirs.log_softmax(-1))
               .abs()
               .where(shown, 0)
               .max()
               .item<double>() /
           scale;
  }
};

}  // namespace

double hub_difference(models::Transformer& model, const std::filesystem::path& folder,
                      const HubVocabulary& vocabulary) {
  const torch::NoGradGuard no_grad;
  const Comparison comparison{.model = model,
                              .vocabulary = vocabulary,
                              .config = config_in(folder),
                              .tensors = training::read_safetensors(folder / "model.safetensors")};
  const bool pair = model->family() == models::Family::encoder_decoder;
  const double all = comparison.difference(small_texts(vocabulary, pair), 0);
  const double at_the_end = comparison.difference(long_text(model, vocabulary), 2);
  return std::isnan(all) ? all : std::max(at_the_end, all);
}

void require_same_specials(const std::filesystem::path& folder) {
  const auto config = config_in(folder);
  const auto read = read_tokenizer(folder).special;
  const std::pair<const char*, std::optional<int32_t>> named[] = {
      {"pad_token_id", read.pad}, {"bos_token_id", read.bos}, {"eos_token_id", read.eos}};
  for (const auto& [name, id] : named)
    if (id && config.contains(name) && config[name] != *id)
      throw CheckpointError(fmt::format("config.json has the {} {}, and the tokenizer's files {}",
                                        name, config[name].dump(), *id));
}

}  // namespace ablate::exchange
