#include <iostream>
#include <map>
#include <memory>

#include "experiments/analysis/make_evidence.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/position_pictures.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/report/table/layout.h"
#include "experiments/report/write_report.h"

namespace ablate::commands {
namespace {

enum class Format { text, csv, json, markdown, latex };

struct ReportRequest {
  std::string folder;
  Format format = Format::text;
};

std::string written_as(Format format, const analysis::Evidence& evidence) {
  switch (format) {
    case Format::text:
      return report::terminal_table(evidence);
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

void report(const ReportRequest& request) {
  const records::StudyFolder folder = std::filesystem::weakly_canonical(request.folder);
  const auto study = records::read_frozen(folder);
  const auto runs = records::read_runs(study, folder);
  const auto evidence = analysis::make_evidence(study, runs);
  report::write_report(study, runs, evidence, position_pictures(study));
  std::cout << written_as(request.format, evidence);
  std::cerr << "report: " << folder.report().string() << "\n";
}

}  // namespace

void add_report(CLI::App& app) {
  auto request = std::make_shared<ReportRequest>();
  auto* verb = app.add_subcommand("report", "Make a study's report and tables again from its runs");
  verb->add_option("folder", request->folder, "The study's folder: <output>/<study>")->required();
  verb->add_option("--format", request->format, "Format of the printed table")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, Format>{{"text", Format::text},
                                                                {"csv", Format::csv},
                                                                {"json", Format::json},
                                                                {"markdown", Format::markdown},
                                                                {"latex", Format::latex}})
              .description(""))
      ->type_name("{text,csv,json,markdown,latex}");
  verb->footer(
      "Does not train. Writes report.html, results.jsonl, results.csv, results.json, table.txt, "
      "table.md and table.tex into the folder, as 'ablate run' does, and prints one of them.\n"
      "Examples:\n"
      "  ablate report runs/quickstart\n"
      "  ablate report runs/quickstart --format latex > table.tex");
  verb->callback([request] { report(*request); });
}

}  // namespace ablate::commands
