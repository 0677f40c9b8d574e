#include "experiments/report/page/attention_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/carried_texts.h"
#include "experiments/report/markup.h"

namespace ablate::report {
namespace {

constexpr int64_t kShades = 20;

/// A class for every twentieth, so that a page of many cells stays small.
std::string shades() {
  std::string rules;
  for (int64_t shade = 1; shade <= kShades; ++shade)
    rules += fmt::format(".s{} {{ background: rgb(var(--shade) / {}%); }}\n", shade, 4 * shade);
  return rules;
}

std::string shaded(double share) {
  if (!std::isfinite(share)) return "<td>?</td>";
  const auto shade = std::clamp<int64_t>(std::llround(share * kShades), 0, kShades);
  const auto percent = std::llround(100 * share);
  const auto text = percent >= 3 ? fmt::format("{}", percent) : "";
  return shade == 0 ? fmt::format("<td>{}</td>", text)
                    : fmt::format("<td class=\"s{}\">{}</td>", shade, text);
}

std::string head_table(const AttentionMap& map, size_t head) {
  std::string table = fmt::format(
      "<div class=\"scroll\"><table><caption>{}, head {}</caption>\n<thead><tr><td></td>",
      text(map.title).html(), head);
  for (const auto& key : map.keys)
    table += fmt::format("<th scope=\"col\">{}</th>", text(key).html());
  table += "</tr></thead>\n<tbody>";
  for (size_t query = 0; query < map.queries.size(); ++query) {
    table += fmt::format("<tr><th scope=\"row\">{}</th>", text(map.queries[query]).html());
    for (const double share : map.heads[head][query]) table += shaded(share);
    table += "</tr>\n";
  }
  return table + "</tbody></table></div>\n";
}

}  // namespace

std::string attention_page(const std::string& title, const std::vector<AttentionGroup>& groups) {
  auto page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>\n{1}{2}</style></"
      "head>\n<body>\n"
      "<h1>{0}</h1>\n<p>A row is a token that reads, a column a token that is read; cells are per "
      "cent of the row, blank below 3. Heads are numbered from 0 on.</p>\n",
      text(title).html(), text_named(style_sheets(), "attention"), shades());
  for (const auto& group : groups) {
    page += fmt::format("<h2>{}</h2>\n", text(group.title).html());
    for (const auto& layer : group.layers) {
      page += fmt::format("<h3>{}</h3>\n<div class=\"heads\">\n", text(layer.title).html());
      for (size_t head = 0; head < layer.heads.size(); ++head) page += head_table(layer, head);
      page += "</div>\n";
    }
  }
  return page + "</body></html>\n";
}

}  // namespace ablate::report
