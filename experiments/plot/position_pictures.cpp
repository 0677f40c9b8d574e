#include "experiments/plot/position_pictures.h"

#include <fmt/format.h>

#include "experiments/plot/svg.h"

namespace ablate::experiments {
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

std::vector<double> numbers_of(const torch::Tensor& vector) {
  return rows_of(vector.unsqueeze(0))[0];
}

std::string embedding_pictures(const std::string& name, const torch::Tensor& vectors) {
  const auto products = vectors.matmul(vectors.t());  // [T, T]
  return svg(HeatMap{name + ": vectors", "dimension", "position", rows_of(vectors)}) +
         svg(HeatMap{name + ": products", "position", "position", rows_of(products)}) +
         svg(LineChart{name + ": product with position 0",
                       "distance",
                       "product",
                       {{name, numbers_of(products[0])}}});
}

std::string rotation_pictures(const std::string& name, const models::Rotation& rotation) {
  return svg(HeatMap{name + ": cosine of the angles", "pair of dimensions", "position",
                     rows_of(rotation.cosine)}) +
         svg(HeatMap{name + ": sine of the angles", "pair of dimensions", "position",
                     rows_of(rotation.sine)});
}

std::string bias_pictures(const std::string& name, const torch::Tensor& bias) {
  std::string pictures;
  LineChart chart{name + ": bias of the last query", "key", "bias", {}};
  for (int64_t head = 0; head < bias.size(0); ++head) {
    const auto title = fmt::format("{}: bias of head {}", name, head);
    pictures += svg(HeatMap{title, "key", "query", rows_of(bias[head])});
    chart.lines.push_back({fmt::format("head {}", head), numbers_of(bias[head].select(0, -1))});
  }
  return pictures + svg(chart);
}

std::string section(const std::string& name, const PositionOptions& scheme,
                    const PositionPictures& options) {
  const auto position = models::make_position(scheme, options.context);
  const auto positions = torch::arange(options.length);
  const auto terms = position->terms(positions, positions);
  std::string pictures;
  if (terms.embedding.defined()) pictures += embedding_pictures(name, terms.embedding);
  if (terms.attention.rotation.cosine.defined())
    pictures += rotation_pictures(name, terms.attention.rotation);
  if (terms.attention.bias.defined()) pictures += bias_pictures(name, terms.attention.bias);
  return fmt::format("<h2>{}</h2>\n{}", escaped(name), pictures);
}

}  // namespace

std::string position_page(const PositionPictures& options) {
  using namespace models;
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const std::vector<std::pair<std::string, PositionOptions>> schemes = {
      {"sinusoidal", Sinusoidal{}},
      {"sinusoidal, halves", Sinusoidal{.layout = SinusoidalLayout::halves}},
      {"learned (as initialised)", Learned{.max_length = options.length}},
      {"rotary", Rotary{}},
      {"alibi", Alibi{}},
      {"alibi, two-sided", Alibi{.encoder = Sides::two_sided}},
      {"t5 (as initialised)", T5Bias{}},
      {"fire (as initialised)", Fire{}},
      {"kerple (as initialised)", Kerple{}},
      {"sandwich", Sandwich{}}};
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Position schemes"
      "</title><style>body{{font-family:sans-serif;margin:2em}}svg{{margin:0.4em}}</style></head>"
      "<body>\n<h1>Position schemes</h1>\n<p>{} positions, d_model {}, {} heads; a {} stack. Blue "
      "is below zero, red above, grey hidden.</p>\n",
      options.length, options.context.d_model, options.context.heads,
      options.context.causal ? "causal" : "bidirectional");
  for (const auto& [name, scheme] : schemes) page += section(name, scheme, options);
  return page + "</body></html>\n";
}

}  // namespace ablate::experiments
