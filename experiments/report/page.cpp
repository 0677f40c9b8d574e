#include "experiments/report/page.h"

#include <fmt/format.h>

#include "experiments/report/sections.h"
#include "experiments/report/style.h"

namespace ablate::experiments {
namespace {

struct Section {
  std::string id, name;
  Markup content;
};

Markup task_section(const TaskView& view, const std::string& id, bool alone) {
  std::vector<std::string> arms;
  for (const auto& arm : view.task.arms) arms.push_back(arm.name);
  const auto drawn = lengths(view) + curves(view);
  auto content = heading("h2", "", alone ? "Results" : "Results: " + view.task.name) + results(view);
  if (!drawn.empty()) content += view.looks.legend(arms) + figures(drawn);
  const auto positions = position_accuracies(view);
  if (!positions.empty())
    content += heading("h3", "", "Accuracy at each position") + figures(positions);
  content += expert_loads(view) + samples(view);
  return element("section", {{"id", id}}, content);
}

std::vector<Section> sections_of(const Evidence& evidence, const ReportData& data) {
  const Looks looks(evidence);
  std::vector<Section> sections{{"missing", "Missing runs", missing_runs(evidence)},
                                {"expectations", "Expectations", expectations(evidence)}};
  for (size_t i = 0; i < evidence.tasks.size(); ++i) {
    const auto id = fmt::format("task-{}", i + 1);
    const bool alone = evidence.tasks.size() == 1;
    sections.push_back(
        {id, alone ? "Results" : evidence.tasks[i].name,
         task_section({evidence, evidence.tasks[i], data, looks}, id, alone)});
  }
  sections.push_back({"all-tasks", "Over all tasks", over_tasks(evidence, looks)});
  sections.push_back({"notes", "Notes", notes(evidence)});
  sections.push_back({"configuration", "Configuration", configurations(evidence, data)});
  sections.push_back({"positions", "Position schemes", position_pictures(data)});
  sections.push_back({"environment", "Environment", environment(data)});
  sections.push_back({"repeat", "Repeat it", repetition(data, looks)});
  std::erase_if(sections, [](const Section& section) { return section.content.empty(); });
  return sections;
}

Markup head(const Evidence& evidence) {
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
          element("title", {}, text(shown(evidence.study, 80) + " \u2013 Ablate report")) +
          style_element(style_sheet()));
}

Markup navigation(const std::vector<Section>& sections) {
  Markup items;
  for (const auto& section : sections)
    items += element("li", {}, element("a", {{"href", "#" + section.id}}, text(shown(section.name, 40))));
  return element("nav", {{"aria-label", "Sections"}}, element("ul", {}, items));
}

}  // namespace

std::string report_page(const Evidence& evidence, const ReportData& data) {
  const auto sections = sections_of(evidence, data);
  auto content = opening(evidence);
  for (const auto& section : sections) content += section.content;
  const auto body =
      element("a", {{"class", "skip"}, {"href", "#content"}}, text("Skip to the content")) +
      navigation(sections) + element("main", {{"id", "content"}, {"tabindex", "-1"}}, content) +
      element("footer", {}, text("Made by Ablate from the runs' own records. Bold: the best mean, "
                                 "which alone is no claim. Pieces are the tokenizer's."));
  return "<!DOCTYPE html>\n" +
         element("html", {{"lang", "en"}}, head(evidence) + element("body", {}, body)).html() +
         "\n";
}

}  // namespace ablate::experiments
