#include "tokenizer/huggingface/post_processor.h"

#include "tokenizer/huggingface/vocabulary.h"

namespace ablate::tokenizer::huggingface {
namespace {

int32_t read_id(const Node& node) { return static_cast<int32_t>(node.count(kLargestId)); }

/// ["[SEP]", 102]
int32_t read_pair(const Node& node) {
  const auto pair = node.list();
  if (pair.size() != 2) node.refuse("must be a token and its id");
  return read_id(pair[1]);
}

}  // namespace

PostProcessor::PostProcessor(const Node& node) { add(node); }

void PostProcessor::add(const Node& node) {
  const auto type = node.type();
  if (type == "Sequence") {
    node.allow({"processors"});
    for (const auto& step : node.at("processors").list()) add(step);
  } else if (type == "ByteLevel") {
    node.allow({"add_prefix_space", "trim_offsets", "use_regex"});
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    node.allow({"sep", "cls", "trim_offsets", "add_prefix_space"});
    templates_.push_back({read_pair(node.at("cls")), kSequence, read_pair(node.at("sep"))});
  } else if (type == "TemplateProcessing") {
    node.allow({"single", "pair", "special_tokens"});
    templates_.push_back(read_template(node));
  } else {
    node.refuse("is the post-processor '" + type + "', which is not supported");
  }
}

/// "single": what stands around one text, each either it or the name of a special token.
PostProcessor::Template PostProcessor::read_template(const Node& node) {
  Template single;
  for (const auto& piece : node.at("single").list()) {
    piece.allow({"Sequence", "SpecialToken"});
    if (const auto sequence = piece.find("Sequence")) {
      if (sequence->at("id").text() != "A") sequence->refuse("must be the sequence A");
      single.push_back(kSequence);
      continue;
    }
    const auto name = piece.at("SpecialToken").at("id");
    const auto token = node.at("special_tokens").find(name.text().c_str());
    if (!token) name.refuse("is '" + name.text() + "', which is not among the special_tokens");
    for (const auto& id : token->at("ids").list()) single.push_back(read_id(id));
  }
  return single;
}

std::vector<int32_t> PostProcessor::frame(const std::vector<int32_t>& ids) const {
  auto framed = ids;
  for (const auto& single : templates_) {
    std::vector<int32_t> next;
    for (const auto id : single) {
      if (id == kSequence)
        next.insert(next.end(), framed.begin(), framed.end());
      else
        next.push_back(id);
    }
    framed = std::move(next);
  }
  return framed;
}

}  // namespace ablate::tokenizer::huggingface
