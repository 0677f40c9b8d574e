#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/analysis/make_evidence.h"
#include "experiments/analysis/together.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/position_pictures.h"
#include "experiments/errors.h"
#include "experiments/exchange/pack.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/report/table/layout.h"
#include "experiments/report/table/together.h"
#include "experiments/report/write_report.h"
#include "experiments/run/model_cost.h"
#include "options/enumeration.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

ABLATE_ENUM(Format, text, csv, json, markdown, latex);

struct ReportRequest {
  std::vector<std::string> folders;
  bool together = false;
  std::vector<double> at;
  std::string to;
  std::optional<Format> format;  // absent: the short tables of a terminal
};

std::string written_as(Format format, const analysis::Evidence& evidence) {
  switch (format) {
    case Format::text:
      return report::text_table(evidence);
    case Format::csv:
      return report::csv_table(evidence);
    case Format::json:
      return report::json_table(evidence);
    case Format::markdown:
      return report::markdown_table(evidence);
    case Format::latex:
      return report::latex_table(evidence);
  }
  return "";
}

/// The report's files of a packed study are kept only if there is a folder for them.
void keep_report(const records::StudyFolder& folder, const std::filesystem::path& to) {
  training::create_folder(to);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    if (entry.is_regular_file())
      training::write_durably(to / entry.path().filename(), training::read_bytes(entry.path()));
}

/// A study that is open, and its evidence.
struct Opened {
  exchange::OpenedStudy opened;
  config::Study study;
  records::StudyRuns runs;
  analysis::Evidence evidence;

  explicit Opened(const std::string& folder)
      : opened(folder),
        study(records::read_frozen(opened.folder(), run::counted_parameters())),
        runs(records::read_runs(study, opened.folder())),
        evidence(analysis::make_evidence(study, runs)) {}
};

std::string written_as(Format format, report::Grid grid) {
  if (format == Format::markdown) return report::pipe_table(grid);
  if (format == Format::latex) return report::tabular(grid);
  const auto note = report::wrapped(std::exchange(grid.note, ""));
  return report::layout(grid) + note;
}

std::string written_as(Format format, const analysis::Together& together) {
  if (format == Format::csv)
    throw UsageError("--together has no csv; choose text, json, markdown or latex");
  if (format == Format::json) return report::together_json(together);
  auto text = written_as(format, report::together_grid(together));
  const auto claims = report::claims_grid(together);
  if (!claims.rows.empty()) text += "\n" + written_as(format, claims);
  return text;
}

void report_together(const ReportRequest& request) {
  std::vector<analysis::Evidence> studies;
  std::set<std::string> runs;
  for (const auto& folder : request.folders) {
    const Opened one(folder);
    for (const auto& run : one.runs.results)
      if (!runs.insert(training::to_json(run).dump()).second)
        throw UsageError(fmt::format(
            "the run {} of {} is also one of a study named before it, and would count twice; name "
            "it, its copies and its packed file once",
            records::label(run.task, run.arm, run.seed), folder));
    if (one.study.crossed)
      throw UsageError(folder +
                       " crosses its seeds, and effects are pooled of runs that share "
                       "none; leave it out");
    studies.push_back(one.evidence);
  }
  const auto together = analysis::pool(studies, request.at);
  std::cout << written_as(request.format.value_or(Format::text), together);
  if (request.to.empty()) return;
  const std::filesystem::path to = request.to;
  training::create_folder(to);
  training::write_durably(to / "together.json", report::together_json(together));
  training::write_durably(to / "together.md", written_as(Format::markdown, together));
  training::write_durably(to / "together.svg",
                          report::forest_file(report::together_forest(together)));
  std::cerr << "together: " << (to / "together.svg").string() << "\n";
}

void report_study(const ReportRequest& request) {
  const Opened one(request.folders.front());
  const auto& opened = one.opened;
  if (!request.to.empty() && !opened.packed())
    throw UsageError("--to is for packed studies; the report of a folder is written into it");
  const auto& folder = opened.folder();
  report::write_report(one.study, one.runs, one.evidence, position_pictures(one.study));
  if (!request.to.empty()) keep_report(folder, request.to);
  std::cout << (request.format ? written_as(*request.format, one.evidence)
                               : report::terminal_table(one.evidence));
  if (!opened.packed()) std::cerr << "report: " << folder.report().string() << "\n";
  if (!request.to.empty())
    std::cerr << "report: " << records::StudyFolder(request.to).report().string() << "\n";
}

void report(const ReportRequest& request) {
  if (request.together) return report_together(request);
  if (request.folders.size() > 1)
    throw UsageError("a report is of one study; add --together to pool the effects of several");
  if (!request.at.empty()) throw UsageError("--at is for --together");
  report_study(request);
}

}  // namespace

void add_report(CLI::App& app) {
  auto request = std::make_shared<ReportRequest>();
  auto* verb = app.add_subcommand("report", "Make a study's report and tables again from its runs");
  verb->add_option("folder", request->folders,
                   "The study's file, its folder, <output>/<study>, or a file of ablate pack")
      ->required();
  verb->add_flag("--together", request->together,
                 "Pool the effects of arms of the same name over the settings of several studies");
  verb->add_option("--at", request->at,
                   "With --together: other numbers of parameters to give verdicts for")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  verb->add_option("--to", request->to,
                   "Folder for the report's files of a packed study, or of --together");
  add_choice(*verb, "--format", request->format, "Print the whole table, in this format");
  verb->footer(
      "Does not train. Writes report.html, forest.svg, results.jsonl, results.csv, results.json, "
      "table.txt, table.md and table.tex into the folder, as 'ablate run' does; those of a packed "
      "study only with --to. Prints the verdicts, or with --format one of the tables.\n"
      "With --together several studies are pooled: random effects over all settings, with a slope "
      "over parameters and tokens a parameter, and for each size what a further study would find. "
      "Claims have their q among all of them, and controls their rate of false alarms. "
      "--to then gets together.json, together.md and together.svg.\n"
      "Examples:\n"
      "  ablate report runs/quickstart\n"
      "  ablate report runs/quickstart --format latex > table.tex\n"
      "  ablate report runs/one runs/two --together --at 1e6");
  verb->callback([request] { report(*request); });
}

}  // namespace ablate::commands
