#include "training/trained_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/head_name.h"
#include "models/initialization.h"
#include "models/linear.h"
#include "models/random.h"
#include "training/part_names.h"

namespace ablate::training {
namespace {

using Names = std::vector<std::string>;

/// The names that a range stands for: "layers.0-1.norm" for "layers.0.norm" and "layers.1.norm";
/// without one, the words themselves.
Names without_range(const std::string& words) {
  const auto dash = words.find('-');
  if (dash == std::string::npos) return {words};
  const auto begin = words.rfind('.', dash) + 1;  // npos + 1 is 0
  const auto end = std::min(words.find('.', dash), words.size());
  const auto range = words.substr(begin, end - begin);
  constexpr int64_t kMostLayers = 10'000;
  int64_t first = 0, last = 0;
  models::NameReader reader(range);
  if (!reader.number(first) || !reader.word("-") || !reader.number(last) || last > kMostLayers ||
      range != fmt::format("{}-{}", first, last) || first > last)
    return {words};
  Names names;
  for (int64_t layer = first; layer <= last; ++layer)
    names.push_back(words.substr(0, begin) + std::to_string(layer) + words.substr(end));
  return names;
}

bool is_named_by(std::string_view name, const Names& list) {
  return std::ranges::any_of(list, [&](const std::string& words) {
    return std::ranges::any_of(without_range(words),
                               [&](const auto& one) { return is_named(name, one); });
  });
}

/// A module in equal layers: "encoder.layers.", 0, 3, ".attention.qkv".
struct Row {
  std::string front;
  int64_t first = -1, last = -1;  // -1: in no layer
  std::string back;

  std::string text() const {
    if (first < 0) return front;
    const auto number = first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    return front + number + back;
  }
};

Row row_of(const std::string& module) {
  constexpr std::string_view kLayers = ".layers.";
  const auto layers = module.find(kLayers);
  if (layers == std::string::npos) return {module};
  const auto begin = layers + kLayers.size(),
             end = std::min(module.find('.', begin), module.size());
  const auto number = std::stoll(module.substr(begin, end - begin));
  return {module.substr(0, begin), number, number, module.substr(end)};
}

/// The modules of these parameters, those of equal layers together:
/// "embedding, encoder.layers.0-3.attention.qkv".
std::string modules_text(const Names& parameters) {
  std::vector<Row> rows;
  for (const auto& parameter : parameters) {
    const auto dot = parameter.rfind('.');
    const auto row = row_of(parameter.substr(0, dot));
    const auto same = std::ranges::find_if(
        rows, [&](const Row& o) { return o.front == row.front && o.back == row.back; });
    if (same == rows.end())
      rows.push_back(row);
    else
      same->last = std::max(same->last, row.last);
  }
  Names texts;
  for (const auto& row : rows) texts.push_back(row.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The linear maps of layers, by the names of their weights.
Weights maps_of(const models::TransformerImpl& model) {
  Weights maps;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto* linear = dynamic_cast<const models::LinearImpl*>(item.value().get());
    if (linear != nullptr && item.key().find(".layers.") != std::string::npos)
      maps[item.key() + ".weight"] = linear->weight.dense;
  }
  return maps;
}

void add_adapters(models::TransformerImpl& model, const LoraOptions& lora, uint64_t seed) {
  const auto maps = maps_of(model);
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto weight = item.key() + ".weight";
    if (!maps.contains(weight) || !is_named_by(weight, lora.on)) continue;
    auto& linear = dynamic_cast<models::LinearImpl&>(*item.value());
    linear.adapt(lora.rank, lora.alpha / static_cast<double>(lora.rank));
    for (const auto& own : linear.own_parameters())
      if (models::is_adapter(own.name))
        models::fill(own.tensor, own.initializer,
                     models::derive_seed(seed, item.key() + "." + own.name));
  }
}

/// Checks the names of the options against those of a model.
class PartCheck {
 public:
  PartCheck(const models::TransformerImpl& model, const TrainingOptions& options)
      : options_(options), names_(model.named_parameters().keys()), maps_(maps_of(model)) {}

  std::vector<TrainingProblem> problems() && {
    if (options_.lora.given()) {
      check_adapters();
      return std::move(problems_);
    }
    need_each("freeze", options_.freeze, names_, "the model has");
    const bool all = std::ranges::all_of(
        names_, [&](const auto& name) { return is_named_by(name, options_.freeze); });
    if (all) problems_.push_back({"freeze", "names all weights of the model; leave one to train"});
    return std::move(problems_);
  }

 private:
  /// Adds a problem for each name of a list that none of `all` has.
  void need_each(const char* key, const Names& list, const Names& all, const char* there_are) {
    for (const auto& words : list)
      for (const auto& one : without_range(words))
        if (std::ranges::none_of(all, [&](const auto& name) { return is_named(name, one); }))
          problems_.push_back(
              {key, fmt::format("names {}, and {}: {}", one, there_are, modules_text(all))});
  }

  void check_adapters() {
    const auto& lora = options_.lora;
    Names all;
    for (const auto& [name, weight] : maps_) all.push_back(name);
    need_each("lora.on", lora.on, all, "the linear maps that can have an adapter are");
    need_each("lora.train", lora.train, names_, "the model has");
    for (const auto& [name, weight] : maps_) {
      if (!is_named_by(name, lora.on)) continue;
      if (is_named_by(name, lora.train))
        problems_.push_back({"lora.train", fmt::format("names {}, which has an adapter", name)});
      const auto most = std::min(weight.size(0), weight.size(1));
      if (lora.rank > most)
        problems_.push_back(
            {"lora.rank", fmt::format("is {}, and {} has the rank {}", lora.rank, name, most)});
    }
  }

  const TrainingOptions& options_;
  Names names_;
  Weights maps_;
  std::vector<TrainingProblem> problems_;
};

constexpr std::string_view kFirst = ".lora_a";  // of the factors

}  // namespace

std::vector<TrainingProblem> part_problems(const models::TransformerImpl& model,
                                           const TrainingOptions& options) {
  if (!options.names_parts()) return {};
  return PartCheck(model, options).problems();
}

void choose_parts(models::TransformerImpl& model, const TrainingOptions& options, uint64_t seed) {
  if (!options.names_parts()) return;
  const auto& lora = options.lora;
  if (lora.given()) add_adapters(model, lora, seed);
  for (auto& item : model.named_parameters()) {
    const bool trained = lora.given()
                             ? models::is_adapter(item.key()) || is_named_by(item.key(), lora.train)
                             : !is_named_by(item.key(), options.freeze);
    item.value().set_requires_grad(trained);
  }
}

Weights merge_adapters(Weights weights, const LoraOptions& lora) {
  const torch::NoGradGuard no_grad;
  for (auto at = weights.begin(); at != weights.end();) {
    if (!at->first.ends_with(kFirst)) {
      ++at;
      continue;
    }
    const auto map = at->first.substr(0, at->first.size() - kFirst.size());
    const auto second = map + ".lora_b";
    const auto a = at->second.to(torch::kDouble), b = weights.at(second).to(torch::kDouble);
    auto& weight = weights.at(map + ".weight");
    const auto change = b.mm(a) * (lora.alpha / static_cast<double>(a.size(0)));
    weight = (weight.to(torch::kDouble) + change).to(weight.scalar_type());
    weights.erase(second);
    at = weights.erase(at);
  }
  return weights;
}

int64_t trained_parameter_count(const torch::nn::Module& model) {
  int64_t count = 0;
  for (const auto& parameter : model.parameters())
    if (parameter.requires_grad()) count += parameter.numel();
  return count;
}

}  // namespace ablate::training
