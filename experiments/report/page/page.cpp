#include "experiments/report/page/page.h"

#include <fmt/format.h>

#include "experiments/report/page/parts.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

struct Section {
  std::string id, name;
  Markup content;
};

Markup task_section(const TaskView& view, const std::string& id, bool alone) {
  std::vector<std::string> arms;
  for (const auto& arm : view.task.arms) arms.push_back(arm.name);
  const auto drawn = curves(view) + cost_pictures(view) + lengths(view) + size_fits(view) +
                     position_accuracies(view);
  auto content = heading("h2", "", alone ? "Results" : "Results: " + view.task.name) +
                 ablation(view) + components(view) + files(view.evidence) + scores(view) +
                 costs(view);
  if (!drawn.empty()) content += view.looks.legend(arms) + drawn;
  content += expert_loads(view) + observations(view) + samples(view);
  return element("section", {{"id", id}}, content);
}

std::vector<Section> sections_of(const analysis::Evidence& evidence, const ReportData& data) {
  const Looks looks(evidence);
  std::vector<Section> sections{{"missing", "Missing runs", missing_runs(evidence)},
                                {"expectations", "Expectations", expectations(evidence)}};
  for (size_t i = 0; i < evidence.ladders.size(); ++i) {
    const auto& one = evidence.ladders[i];
    const auto id = fmt::format("ladder-{}", i + 1);
    sections.push_back({id, ladder_title(one), ladder(evidence.ladders, i, id, looks)});
  }
  for (size_t i = 0; i < evidence.tasks.size(); ++i) {
    const auto id = fmt::format("task-{}", i + 1);
    const bool alone = evidence.tasks.size() == 1;
    sections.push_back({id, alone ? "Results" : evidence.tasks[i].name,
                        task_section({evidence, evidence.tasks[i], data, looks}, id, alone)});
  }
  sections.push_back({"all-tasks", "Over all tasks", over_tasks(evidence, looks)});
  sections.push_back({"tuning", "Chosen values", tuning(evidence, looks)});
  sections.push_back({"notes", "Notes", notes(evidence)});
  sections.push_back({"configuration", "Configuration", configurations(evidence, data)});
  sections.push_back({"positions", "Position schemes", position_schemes(data.positions)});
  sections.push_back({"environment", "Environment", environment(data)});
  sections.push_back({"repeat", "Repeat it", repetition(evidence.study, data, looks)});
  std::erase_if(sections, [](const Section& section) { return section.content.empty(); });
  return sections;
}

Markup head(const std::string& title) {
  const auto meta = [](const char* key, const char* name, const char* content) {
    return element("meta", {{key, name}, {"content", content}});
  };
  return element(
      "head", {},
      element("meta", {{"charset", "utf-8"}}) +
          meta("http-equiv", "Content-Security-Policy",
               "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
               "form-action 'none'") +
          meta("name", "viewport", "width=device-width, initial-scale=1") +
          meta("name", "color-scheme", "light dark") + meta("name", "generator", "Ablate") +
          element("title", {}, text(title)) + style_element(style_sheet()));
}

Markup navigation(const std::vector<Section>& sections) {
  Markup items;
  for (const auto& section : sections)
    items += element("li", {},
                     element("a", {{"href", "#" + section.id}}, text(shown(section.name, 40))));
  return element("nav", {{"aria-label", "Sections"}}, element("ul", {}, items));
}

std::string document(const std::string& title, const Markup& body) {
  return "<!DOCTYPE html>\n" +
         element("html", {{"lang", "en"}}, head(title) + element("body", {}, body)).html() + "\n";
}

Markup main_part(const Markup& content) {
  return element("main", {{"id", "content"}, {"tabindex", "-1"}}, content);
}

}  // namespace

std::string report_page(const analysis::Evidence& evidence, const ReportData& data) {
  const auto sections = sections_of(evidence, data);
  auto content = opening(evidence) + forest(evidence) + facts(evidence);
  for (const auto& section : sections) content += section.content;
  const auto footer = text(
      "Made by Ablate from the runs' own records. Bold: the best mean, which is not a claim by "
      "itself. Tokens are the tokenizer's.");
  return document(
      shown(evidence.study, 80) + " \u2013 Ablate report",
      element("a", {{"class", "skip"}, {"href", "#content"}}, text("Skip to the content")) +
          navigation(sections) + main_part(content) + element("footer", {}, footer));
}

std::string page(const std::string& title, const Markup& content) {
  return document(title, main_part(content));
}

std::string pictures_page(const std::string& words, const std::vector<PositionPicture>& pictures) {
  return page("Position schemes", heading("h2", "", "Position schemes") +
                                      paragraph("muted", words) + position_pictures(pictures));
}

}  // namespace ablate::report
