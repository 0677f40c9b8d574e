#include "experiments/report/page/page.h"

#include <fmt/format.h>

#include "experiments/report/page/parts.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

struct Section {
  std::string id, name;  // as the navigation has it
  Markup content;
  std::string heading = name;
};

Markup task_results(const TaskView& view) {
  std::vector<std::string> arms;
  for (const auto& arm : view.task.arms) arms.push_back(arm.name);
  const auto drawn = curves(view) + cost_pictures(view) + lengths(view) + size_fits(view) +
                     position_accuracies(view);
  auto content =
      ablation(view) + components(view) + files(view.evidence) + scores(view) + costs(view);
  if (!drawn.empty()) content += view.looks.legend(arms) + drawn;
  return content + expert_loads(view) + observations(view) + samples(view);
}

/// Those with content.
std::vector<Section> sections_of(const analysis::Evidence& evidence, const ReportData& data) {
  const Looks looks(evidence);
  const auto missing = evidence.missing.size();
  std::vector<Section> sections{
      {"missing", "Missing runs", missing_runs(evidence),
       fmt::format("{} run{} missing", missing, missing == 1 ? " is" : "s are")},
      {"expectations", "Expectations", expectations(evidence)}};
  for (const auto& one : evidence.ladders)
    sections.push_back({fmt::format("ladder-{}", &one - evidence.ladders.data() + 1),
                        ladder_title(one), ladder(one, evidence.ladders, looks)});
  const bool alone = evidence.tasks.size() == 1;
  for (const auto& task : evidence.tasks)
    sections.push_back({fmt::format("task-{}", &task - evidence.tasks.data() + 1),
                        alone ? "Results" : task.name, task_results({evidence, task, data, looks}),
                        alone ? "Results" : "Results: " + task.name});
  sections.insert(sections.end(),
                  {{"all-tasks", "Over all tasks", over_tasks(evidence, looks)},
                   {"tuning", "Chosen values", tuning(evidence, looks)},
                   {"notes", "Notes", notes(evidence)},
                   {"configuration", "Configuration", configurations(evidence, data)},
                   {"positions", "Position schemes", position_schemes(data.positions)},
                   {"environment", "Environment", environment(data)},
                   {"repeat", "Repeat it", repetition(evidence.study, data, looks)}});
  std::erase_if(sections, [](const Section& section) { return section.content.empty(); });
  return sections;
}

Markup section_of(const Section& section) {
  std::vector<Attribute> attributes{{"id", section.id}};
  if (section.id == "missing") attributes.insert(attributes.begin(), {"class", "warning"});
  return element("section", attributes, heading("h2", section.heading) + section.content);
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
  for (const auto& section : sections) content += section_of(section);
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
  return page("Position schemes", heading("h2", "Position schemes") + paragraph("muted", words) +
                                      position_pictures(pictures));
}

}  // namespace ablate::report
