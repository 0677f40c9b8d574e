#include "training/trained_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/head_name.h"

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

/// Adds a problem for each name in the list of the key `key` that is in no name of `all`.
void check_names(const char* key, const Names& list, const Names& all,
                 std::vector<TrainingProblem>& problems) {
  for (const auto& words : list)
    for (const auto& one : without_range(words))
      if (std::ranges::none_of(all, [&](const auto& name) { return is_named(name, one); }))
        problems.push_back(
            {key, fmt::format("names {}, and the model has: {}", one, modules_text(all))});
}

}  // namespace

bool is_named(std::string_view name, std::string_view words) {
  return fmt::format(".{}.", name).find(fmt::format(".{}.", words)) != std::string::npos;
}

std::vector<TrainingProblem> part_problems(const models::TransformerImpl& model,
                                           const TrainingOptions& options) {
  std::vector<TrainingProblem> problems;
  if (!options.trains() || options.freeze.empty()) return problems;
  const auto names = model.named_parameters().keys();
  check_names("freeze", options.freeze, names, problems);
  if (std::ranges::all_of(names,
                          [&](const auto& name) { return is_named_by(name, options.freeze); }))
    problems.push_back({"freeze", "names all weights of the model; leave one to train"});
  return problems;
}

void freeze_parts(models::TransformerImpl& model, const TrainingOptions& options) {
  for (auto& item : model.named_parameters())
    if (is_named_by(item.key(), options.freeze)) item.value().set_requires_grad(false);
}

int64_t trained_parameter_count(const torch::nn::Module& model) {
  int64_t count = 0;
  for (const auto& parameter : model.parameters())
    if (parameter.requires_grad()) count += parameter.numel();
  return count;
}

}  // namespace ablate::training
