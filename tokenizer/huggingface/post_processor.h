#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/huggingface/node.h"

namespace ablate::tokenizer::huggingface {

/// The post-processor of a tokenizer.json, as far as it concerns one text: ids that frame it.
class PostProcessor {
 public:
  PostProcessor() = default;
  /// Throws TokenizerError if a part is unknown or malformed.
  explicit PostProcessor(const Node& node);

  std::vector<int32_t> frame(const std::vector<int32_t>& ids) const;

 private:
  static constexpr int32_t kSequence = -1;  // stands for the ids so far
  using Template = std::vector<int32_t>;

  void add(const Node& node);
  static Template read_template(const Node& node);

  std::vector<Template> templates_;
};

}  // namespace ablate::tokenizer::huggingface
