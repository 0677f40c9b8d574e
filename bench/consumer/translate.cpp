// Translates standard input, a line for a line, with a model that `ablate export` wrote.
//   translate model.pt [beams]
#include <sentencepiece_processor.h>
#include <torch/nn/utils/rnn.h>
#include <torch/script.h>

#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int64_t kPad = 0, kEos = 2;  // as in the file's ablate.json
constexpr size_t kRows = 32;

struct Translator {
  explicit Translator(const std::string& file) {
    torch::jit::ExtraFilesMap files{{"source.model", ""}, {"target.model", ""}};
    module = torch::jit::load(file, torch::kCPU, files);
    if (files["source.model"].starts_with("ablate tokenizer "))
      throw std::runtime_error(file + ": its tokenizer is another project's, not SentencePiece");
    if (!source.LoadFromSerializedProto(files["source.model"]).ok() ||
        !target.LoadFromSerializedProto(files["target.model"]).ok())
      throw std::runtime_error(file + " holds no tokenizers");
  }
  torch::jit::Module module;
  sentencepiece::SentencePieceProcessor source, target;
};

/// Ids of the lines, each closed by the end mark, padded. // [B, S]
torch::Tensor encoded(const Translator& translator, const std::vector<std::string>& lines) {
  std::vector<torch::Tensor> rows;
  for (const auto& line : lines) {
    std::vector<int64_t> ids;
    for (const int id : translator.source.EncodeAsIds(line)) ids.push_back(id);
    ids.push_back(kEos);
    rows.push_back(torch::tensor(ids, torch::kLong));
  }
  return torch::nn::utils::rnn::pad_sequence(rows, true, static_cast<double>(kPad));
}

std::string decoded(const Translator& translator, const torch::Tensor& row) {
  std::vector<int> ids;
  for (int64_t i = 0; i < row.size(0) && row[i].item<int64_t>() != kPad; ++i)
    ids.push_back(row[i].item<int>());
  return translator.target.DecodeIds(ids);
}

void translate(Translator& translator, const std::vector<std::string>& lines, int64_t beams) {
  std::vector<std::string> texts;  // an empty line gives an empty line
  for (const auto& line : lines)
    if (!line.empty()) texts.push_back(line);
  torch::Tensor ids;
  if (!texts.empty()) {
    const auto source = encoded(translator, texts);
    const auto found = beams == 1 ? translator.module.get_method("greedy")({source})
                                  : translator.module.get_method("beam")({source, beams});
    ids = found.toTupleRef().elements()[0].toTensor();
  }
  int64_t next = 0;
  for (const auto& line : lines)
    std::cout << (line.empty() ? "" : decoded(translator, ids[next++])) << "\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: translate model.pt [beams]\n";
    return 2;
  }
  torch::NoGradGuard no_grad;
  Translator translator(arguments[1]);
  const int64_t beams = count > 2 ? std::stoll(arguments[2]) : 1;
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    lines.push_back(line);
    if (lines.size() < kRows) continue;
    translate(translator, lines, beams);
    lines.clear();
  }
  translate(translator, lines, beams);
}
