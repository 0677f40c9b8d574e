#include "experiments/commands/position_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <type_traits>
#include <variant>

#include "experiments/config/schema/printer.h"
#include "experiments/report/page/page.h"
#include "models/options/position_plan.h"
#include "models/position/position.h"

namespace ablate::commands {
namespace {

using models::PositionOptions;

std::vector<std::vector<double>> rows_of(const torch::Tensor& matrix) {
  const auto wide = matrix.detach().to(torch::kDouble).contiguous();
  std::vector<std::vector<double>> rows;
  for (int64_t r = 0; r < wide.size(0); ++r) {
    const auto* first = wide[r].const_data_ptr<double>();
    rows.emplace_back(first, first + wide.size(1));
  }
  return rows;
}

report::HeatMap map_of(const std::string& title, const std::string& x_label,
                       const std::string& y_label, const torch::Tensor& matrix) {
  return {.title = title,
          .x_label = x_label,
          .y_label = y_label,
          .rows = rows_of(matrix),
          .x_last = static_cast<double>(matrix.size(1) - 1)};
}

report::Line line_of(const std::string& name, size_t number, const torch::Tensor& vector) {
  report::Line line{.name = name, .look = {number}, .points = {}, .spread = {}};
  const auto rows = rows_of(vector.unsqueeze(0));
  for (const double value : rows.front())
    line.points.push_back({static_cast<double>(line.points.size()), value});
  return line;
}

void add_embedding(const torch::Tensor& vectors, report::PositionPicture& picture) {
  const auto products = vectors.matmul(vectors.t());  // [T, T]
  picture.maps.push_back(map_of("Vectors", "dimension", "position", vectors));
  picture.maps.push_back(map_of("Products of the vectors", "position", "position", products));
  picture.charts.push_back({.title = "Product with the vector of position 0",
                            .x_label = "distance",
                            .y_label = "product",
                            .lines = {line_of(picture.scheme, 0, products[0])}});
}

void add_rotation(const models::ops::Rotation& rotation, report::PositionPicture& picture) {
  const auto* pairs = "pair of dimensions";
  picture.maps.push_back(map_of("Cosine of the angles", pairs, "position", rotation.cosine));
  picture.maps.push_back(map_of("Sine of the angles", pairs, "position", rotation.sine));
}

void add_bias(const torch::Tensor& bias, report::PositionPicture& picture) {
  report::LineChart chart{.title = "Bias of the last query", .x_label = "key", .y_label = "bias"};
  const int64_t last = bias.size(0) - 1;
  for (int64_t head = 0; head <= last; ++head) {
    if (head == 0 || head == last)
      picture.maps.push_back(
          map_of(fmt::format("Bias of head {}", head), "key", "query", bias[head]));
    chart.lines.push_back(
        line_of(fmt::format("head {}", head), static_cast<size_t>(head), bias[head].select(0, -1)));
  }
  picture.charts.push_back(std::move(chart));
}

models::StackOptions first_stack(const models::TransformerOptions& model) {
  const bool alone = model.family == models::Family::decoder_only;
  return models::stack_of(model, alone ? models::Side::decoder : models::Side::encoder);
}

std::string name_of_scheme(const PositionOptions& scheme) {
  return std::visit([](const auto& kind) { return std::string(kind.name); }, scheme);
}

/// The schemes of a stack's layers, each with its name.
std::vector<std::pair<std::string, PositionOptions>> schemes_of(const models::StackOptions& stack) {
  std::vector<std::pair<std::string, PositionOptions>> schemes;
  for (const auto& scheme : models::position_plan(stack).schemes) {
    const auto from = scheme.first == 0 ? "" : fmt::format(", first in layer {}", scheme.first + 1);
    schemes.emplace_back(name_of_scheme(scheme.options) + from, scheme.options);
  }
  return schemes;
}

/// All that decides a picture: equal texts mean equal ones.
std::string settings_of(const config::Experiment& experiment) {
  std::istringstream lines(config::canonical(experiment));
  std::string settings;
  for (std::string line; std::getline(lines, line);)
    if (line.find("position") != std::string::npos || line.starts_with("model.family"))
      settings += line + "\n";
  return settings;
}

std::string stack_words(const DrawnStack& stack) {
  return fmt::format("{} positions, d_model {}, {} heads", stack.length, stack.context.d_model,
                     stack.context.heads);
}

/// A scheme's vectors, angles and biases as a new model has them; trained ones have their initial
/// values. Empty if the scheme depends on content.
report::PositionPicture position_picture(const std::string& name, const PositionOptions& scheme,
                                         const DrawnStack& stack) {
  const torch::NoGradGuard no_grad;
  const auto* learned = std::get_if<models::Learned>(&scheme);
  const auto length = learned ? std::min(stack.length, learned->max_length) : stack.length;
  const auto position = models::make_position(scheme, stack.context);
  models::initialize(*position, 1);
  const auto positions = torch::arange(length);
  const auto terms = position->terms(positions, positions);
  report::PositionPicture picture{.scheme = name, .stack = stack_words(stack)};
  if (terms.embedding.defined()) add_embedding(terms.embedding, picture);
  if (terms.attention.rotation.cosine.defined()) add_rotation(terms.attention.rotation, picture);
  if (terms.attention.bias.defined()) add_bias(terms.attention.bias, picture);
  return picture;
}

template <class... Schemes>
std::vector<std::pair<std::string, PositionOptions>> every_scheme(
    std::type_identity<std::variant<Schemes...>>) {
  return {{std::string(Schemes::name), Schemes{}}...};
}

}  // namespace

std::vector<report::PositionPicture> position_pictures(const config::Study& study) {
  std::vector<report::PositionPicture> pictures;
  std::map<std::string, std::pair<size_t, size_t>> drawn;  // settings -> which of `pictures`
  std::set<std::string> arms;
  for (const auto& run : study.runs) {
    if (!arms.insert(run.arm).second) continue;
    const auto [place, first] =
        drawn.emplace(settings_of(run.experiment), std::pair<size_t, size_t>());
    auto& [begin, end] = place->second;
    if (first) {
      const auto options = first_stack(run.experiment.model);
      DrawnStack stack;
      stack.context.causal = options.causal;
      begin = pictures.size();
      for (const auto& [name, scheme] : schemes_of(options))
        pictures.push_back(position_picture(name, scheme, stack));
      end = pictures.size();
    }
    for (size_t i = begin; i < end; ++i) pictures[i].arms.push_back(run.arm);
  }
  std::erase_if(pictures,
                [](const report::PositionPicture& picture) { return picture.maps.empty(); });
  return pictures;
}

std::string position_page(const DrawnStack& stack) {
  auto schemes = every_scheme(std::type_identity<PositionOptions>());
  schemes.emplace_back("sinusoidal, halves",
                       models::Sinusoidal{.layout = models::SinusoidalLayout::halves});
  schemes.emplace_back("alibi, two-sided", models::Alibi{.encoder = models::Sides::two_sided});
  std::vector<report::PositionPicture> pictures;
  std::string by_content;
  for (const auto& [name, scheme] : schemes) {
    auto picture = position_picture(name, scheme, stack);
    if (!picture.maps.empty())
      pictures.push_back(std::move(picture));
    else if (traits_of(scheme).tells_order)
      by_content += (by_content.empty() ? "" : ", ") + name;
  }
  const auto causal = stack.context.causal ? "causal" : "bidirectional";
  return report::pictures_page(
      fmt::format("{}; a {} stack. Without a picture, because they depend on content: {}.",
                  stack_words(stack), causal, by_content),
      pictures);
}

}  // namespace ablate::commands
