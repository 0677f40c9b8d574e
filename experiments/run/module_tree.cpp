#include "experiments/run/module_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "experiments/config/schema/printer.h"
#include "experiments/config/schema/schema.h"

namespace ablate::run {
namespace {

/// A table of modules, each below its owner.
class ModuleTree {
 public:
  explicit ModuleTree(const models::TransformerImpl& model) : model_(model) {}

  std::string text() && {
    add_below(model_, 1, "");
    for (const auto& item : model_.named_parameters(/*recurse=*/false))
      add_line(1, item.key(), item.value().numel(), c10::str(item.value().sizes()));
    return std::move(text_);
  }

 private:
  void add_line(int depth, const std::string& name, int64_t count, const std::string& note = {}) {
    const auto label = std::string(static_cast<size_t>(2 * depth), ' ') + name;
    text_ += fmt::format("{:<44} {:>14}{}{}\n", label, count, note.empty() ? "" : "  ", note);
  }

  void add_below(const torch::nn::Module& module, int depth, const std::string& path) {
    if (path == ".encoder.layers") return add_layers(module, depth, models::Side::encoder);
    if (path == ".decoder.layers") return add_layers(module, depth, models::Side::decoder);
    for (const auto& child : module.named_children()) {
      const auto count = models::parameter_count(*child.value());
      if (count == 0) continue;
      add_line(depth, child.key(), count);
      add_below(*child.value(), depth + 1, path + "." + child.key());
    }
  }

  /// Every kind of layer once, with its layers and the options in which they differ from the
  /// model's.
  void add_layers(const torch::nn::Module& list, int depth, models::Side side) {
    auto options = model_.options();
    const auto& layers = models::own_layers(options, side);
    const auto modules = list.children();
    std::vector<bool> shown(layers.size());
    for (size_t i = 0; i < layers.size(); ++i) {
      if (shown[i]) continue;
      std::vector<size_t> numbers;
      for (size_t j = i; j < layers.size(); ++j)
        if (layers[j] == layers[i]) {
          numbers.push_back(j + 1);
          shown[j] = true;
        }
      add_line(depth,
               numbers.size() == layers.size()
                   ? "each"
                   : fmt::format("{} {}", numbers.size() == 1 ? "layer" : "layers",
                                 fmt::join(numbers, ", ")),
               models::parameter_count(*modules[i]),
               config::layer_text(layers[i], model_.options().layer));
      add_below(*modules[i], depth + 1, "");
    }
  }

  const models::TransformerImpl& model_;
  std::string text_;
};

}  // namespace

std::string module_tree(const models::TransformerImpl& model) { return ModuleTree(model).text(); }

}  // namespace ablate::run
