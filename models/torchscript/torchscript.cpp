#include "models/torchscript/torchscript.h"

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <functional>
#include <map>

#include "models/torchscript/loops.h"

namespace ablate::models {
namespace {

namespace jit = torch::jit;
using Tensors = std::vector<torch::Tensor>;

constexpr int64_t kUnlimited = 1'000'000;
constexpr const char* kConstant = "constant_";
constexpr const char* kAnchor = "anchor";  // a buffer whose device is the module's

/// The module's tree with the same names, each weight the very tensor of the model.
jit::Module mirror_of(const torch::nn::Module& module, const c10::QualifiedName& name,
                      const std::shared_ptr<jit::CompilationUnit>& unit) {
  jit::Module mirror(name, unit, /*shouldMangle=*/true);
  mirror.register_attribute("training", c10::BoolType::get(), false);  // PyTorch's freeze reads it
  for (const auto& item : module.named_parameters(/*recurse=*/false))
    mirror.register_parameter(item.key(), item.value(), false);
  for (const auto& item : module.named_buffers(/*recurse=*/false))
    mirror.register_buffer(item.key(), item.value());
  for (const auto& item : module.named_children())
    mirror.register_module(item.key(),
                           mirror_of(*item.value(), c10::QualifiedName(name, "Part"), unit));
  return mirror;
}

/// Calls `visit` with every tensor of a cache that has a row for each of the batch.
void each_tensor(DecoderCache& cache, const auto& visit) {
  const auto visit_defined = [&](torch::Tensor& x) {
    if (x.defined()) visit(x);
  };
  visit_defined(cache.memory_mask);
  for (auto& layer : cache.layers)
    for (auto* part : layer.parts()) {
      for (auto& block : part->blocks)
        for (auto& x : block) visit_defined(x);
      for (auto& [name, x] : part->state) visit_defined(x);
    }
}

/// These tensors, the tokens so far first.
Tensors state_of(const torch::Tensor& ids, DecoderCache& cache) {
  Tensors state{ids};
  each_tensor(cache, [&](const torch::Tensor& x) { state.push_back(x); });
  return state;
}

/// The inverse; `like` is a cache of the same model.
DecoderCache cache_of(const TransformerImpl& model, const Tensors& state, DecoderCache like) {
  size_t next = 1;
  each_tensor(like, [&](torch::Tensor& x) { x = state.at(next++); });
  like.position_ids = model.target_position_ids(state[0]);
  if (model.vocabulary().divider) like.documents = model.documents_of(state[0]);
  like.length = state[0].size(1);
  return like;
}

/// A trace holds C++ tensors and devices as constants, which moving the module would not move:
/// tensors become its buffers, devices that of the anchor.
void make_device_free(jit::Module& module, jit::Graph& graph, const std::string& method) {
  auto* self = graph.inputs().at(0);
  std::vector<jit::Node*> devices, tensors;
  const std::function<void(jit::Block*)> visit = [&](jit::Block* block) {
    for (auto* node : block->nodes()) {
      for (auto* inner : node->blocks()) visit(inner);
      if (node->kind() != c10::prim::Constant) continue;
      if (node->output()->type()->kind() == c10::TypeKind::DeviceObjType) devices.push_back(node);
      if (node->hasAttribute(c10::attr::value) &&
          node->kindOf(c10::attr::value) == jit::AttributeKind::t &&
          node->t(c10::attr::value).dim() > 0)
        tensors.push_back(node);
    }
  };
  visit(graph.block());
  auto* start = *graph.nodes().begin();
  for (auto* node : tensors) {
    const auto name = kConstant + method + "_" + std::to_string(module.buffers().size());
    module.register_buffer(name, node->t(c10::attr::value).clone());
    auto* loaded = graph.createGetAttr(self, name)->insertBefore(start);
    node->output()->replaceAllUsesWith(loaded->output());
    node->destroy();
  }
  if (devices.empty()) return;
  auto* loaded = graph.createGetAttr(self, kAnchor)->insertBefore(start);
  auto* device = graph.create(c10::prim::device, {loaded->output()})->insertBefore(start);
  device->output()->setType(c10::DeviceObjType::get());
  for (auto* node : devices) {
    node->output()->replaceAllUsesWith(device->output());
    node->destroy();
  }
}

/// The length of a sequence that a method gets, in TorchScript, and the most tokens it may have.
struct Bound {
  std::string length;
  int64_t longest;
};

/// Most tokens of a sequence for which this side of the model has positions; kUnlimited if all
/// lengths have.
int64_t longest_of(const TransformerImpl& model, Side side) {
  const auto fits = [&](int64_t length) {
    try {
      model.check_length(side, length);
    } catch (const LengthError&) {
      return false;
    }
    return true;
  };
  int64_t fitting = 0, beyond = kUnlimited + 1;
  while (beyond - fitting > 1) {
    const int64_t middle = fitting + (beyond - fitting) / 2;
    (fits(middle) ? fitting : beyond) = middle;
  }
  return fitting;
}

/// One traced method.
struct Method {
  std::string name;
  std::vector<std::string> arguments;
  jit::Stack example;
  std::function<jit::IValue(const jit::Stack&)> run;
  std::vector<Bound> bounds;
};

constexpr const char* kRefusal = R"(
def refuse_beyond(self, length: int, longest: int):
    assert length <= longest, 'a sequence of {} tokens is longer than the {} positions that this model has; shorten the input'.format(length, longest)
)";

/// Wraps a traced method in one that refuses too long sequences with a readable message, while a
/// trace can only report an index out of range.
std::string checked_method(const Method& method, const std::string& traced) {
  std::string parameters = "self", passed, checks;
  for (const auto& argument : method.arguments) {
    parameters += ", " + argument + (argument == "state" ? ": List[Tensor]" : ": Tensor");
    passed += (passed.empty() ? "" : ", ") + argument;
  }
  for (const auto& [length, longest] : method.bounds)
    if (longest < kUnlimited)
      checks += "    self.refuse_beyond(" + length + ", " + std::to_string(longest) + ")\n";
  return "def " + method.name + "(" + parameters + "):\n" + checks + "    return self." + traced +
         "(" + passed + ")\n";
}

void add_method(jit::Module& module, const Method& method) {
  const bool bounded = std::ranges::any_of(
      method.bounds, [](const Bound& bound) { return bound.longest < kUnlimited; });
  const auto name = bounded ? "traced_" + method.name : method.name;
  const auto traced = jit::tracer::trace(
      method.example, [&](const jit::Stack& inputs) -> jit::Stack { return {method.run(inputs)}; },
      [](const torch::Tensor&) { return std::string(); }, /*strict=*/false,
      /*force_outplace=*/false, &module, method.arguments);
  auto graph = traced.first->graph;
  make_device_free(module, *graph, method.name);
  auto* function = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module.type()->name(), name), graph);
  module.type()->addMethod(function);
  if (!bounded) return;
  if (!module.find_method("refuse_beyond")) module.define(kRefusal);
  module.define(checked_method(method, name));
}

jit::IValue to_tuple(const torch::Tensor& logits, const Tensors& state) {
  return c10::ivalue::Tuple::create(logits, c10::List<torch::Tensor>(state));
}

torch::Tensor example_ids(int64_t rows, int64_t length, const SpecialTokens& tokens) {
  return torch::full({rows, length}, tokens.eos.value, torch::kLong);
}

/// The state before the start token is read, which a decoder-only model reads before the source.
DecoderCache initial_cache(Transformer& model, const torch::Tensor& source) {
  return model->prefill(model->family() == Family::decoder_only ? source.narrow(1, 0, 0) : source);
}

/// Logits of a target's first token, and the state then.
jit::IValue first_step(Transformer& model, const torch::Tensor& source,
                       const std::optional<TokenId>& start) {
  auto cache = initial_cache(model, source);
  auto ids = source;
  if (start) ids = (source.sum(1) * 0 + start->value).unsqueeze(1);  // [B, 1]
  if (start && model->family() == Family::decoder_only) ids = torch::cat({ids, source}, 1);
  const auto logits = model->project(model->extend(ids, cache, {}).hidden.select(1, -1));
  return to_tuple(logits, state_of(ids, cache));
}

void replace_all(std::string& text, const std::string& old, const std::string& by) {
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
}

/// The loops with the defaults of the search options.
std::string decoding_loops() {
  std::string text = kDecodingLoops;
  const auto fill = [&]<class T>(std::string_view name, const T& value, auto&&...) {
    if constexpr (std::is_arithmetic_v<T>)
      replace_all(text, "@" + std::string(name), std::to_string(value));
  };
  const SearchOptions search;
  const RandomSampling sampling;
  SearchOptions::fields(search, fill);
  RandomSampling::fields(sampling, fill);
  return text;
}

void add_decoding(jit::Module& module, Transformer& model, const SpecialTokens& tokens,
                  const std::vector<int64_t>& unwritten) {
  const auto source = example_ids(2, 3, tokens);
  const bool prompted = model->family() == Family::decoder_only;
  const int64_t written = longest_of(*model, Side::decoder);
  const auto first = prompted ? Bound{"source.size(1) + 1", written}
                              : Bound{"source.size(1)", longest_of(*model, Side::encoder)};
  add_method(module, {.name = "begin",
                      .arguments = {"source"},
                      .example = {source},
                      .run =
                          [&](const jit::Stack& inputs) {
                            return first_step(model, inputs[0].toTensor(), tokens.start);
                          },
                      .bounds = {first}});
  const auto like = initial_cache(model, source);
  // The state must come from the traced method: without a trace, steps keep it in another form.
  const auto state = module.get_method("begin")({source}).toTuple()->elements()[1];
  add_method(module, {.name = "step",
                      .arguments = {"last", "state"},
                      .example = {example_ids(2, 1, tokens).select(1, 0), state},
                      .run =
                          [&](const jit::Stack& inputs) {
                            const auto last = inputs[0].toTensor();
                            const auto before = inputs[1].toTensorVector();
                            auto cache = cache_of(*model, before, like);
                            const auto next = model->step(last, cache);
                            const auto ids = torch::cat({before[0], last.unsqueeze(1)}, 1);
                            return to_tuple(next, state_of(ids, cache));
                          },
                      .bounds = {{"state[0].size(1) + 1", written}}});
  std::vector<int64_t> suppressed{tokens.pad, tokens.bos};
  suppressed.insert(suppressed.end(), unwritten.begin(), unwritten.end());
  module.register_attribute("suppressed", c10::ListType::ofInts(),
                            c10::List<int64_t>(at::IntArrayRef(suppressed)));
  module.register_attribute("bos", c10::IntType::get(), tokens.bos.value);
  module.register_attribute("eos", c10::IntType::get(), tokens.eos.value);
  module.register_attribute("longest", c10::IntType::get(), longest_length(*model));
  module.register_attribute("prompt", c10::IntType::get(), int64_t{prompted});
  module.register_attribute("never", c10::FloatType::get(), -1e300);  // of no hypothesis
  module.define(decoding_loops());
}

}  // namespace

torch::jit::Module to_torchscript(Transformer& model, const SpecialTokens& tokens,
                                  const std::vector<int64_t>& unwritten) {
  const torch::NoGradGuard no_grad;
  auto module = mirror_of(*model, c10::QualifiedName("__torch__.ablate.Transformer"),
                          std::make_shared<jit::CompilationUnit>());
  module.register_attribute("pad", c10::IntType::get(), tokens.pad.value);
  module.register_buffer(kAnchor, torch::zeros({1}, model->output_weight().options()));
  const bool pair = model->family() == Family::encoder_decoder;
  const bool encodes = model->family() != Family::decoder_only;
  const auto ids = example_ids(2, 3, tokens);
  std::vector<Bound> bounds{
      {"source.size(1)", longest_of(*model, encodes ? Side::encoder : Side::decoder)}};
  if (pair) bounds.push_back({"target.size(1)", longest_of(*model, Side::decoder)});
  add_method(module,
             {.name = "forward",
              .arguments = pair ? std::vector<std::string>{"source", "target"}
                                : std::vector<std::string>{"source"},
              .example = pair ? jit::Stack{ids, example_ids(2, 4, tokens)} : jit::Stack{ids},
              .run =
                  [&](const jit::Stack& inputs) {
                    return model->forward(inputs.front().toTensor(), inputs.back().toTensor());
                  },
              .bounds = bounds});
  if (encodes)
    add_method(module, {.name = "encode",
                        .arguments = {"source"},
                        .example = {ids},
                        .run =
                            [&](const jit::Stack& inputs) {
                              return model->encode(inputs[0].toTensor()).output;
                            },
                        .bounds = {bounds.front()}});
  if (model->family() != Family::encoder_only) add_decoding(module, model, tokens, unwritten);
  return module;
}

int64_t longest_length(const TransformerImpl& model) {
  return std::min(longest_of(model, Side::encoder), longest_of(model, Side::decoder));
}

std::map<std::string, torch::Tensor> weights_of(const torch::jit::Module& module) {
  std::map<std::string, torch::Tensor> weights;
  for (const auto& item : module.named_parameters()) weights[item.name] = item.value;
  for (const auto& item : module.named_buffers())
    if (item.name != kAnchor && !item.name.starts_with(kConstant)) weights[item.name] = item.value;
  return weights;
}

}  // namespace ablate::models
