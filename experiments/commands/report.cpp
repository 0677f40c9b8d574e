#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "experiments/analysis/make_evidence.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/position_pictures.h"
#include "experiments/errors.h"
#include "experiments/exchange/pack.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/report/table/layout.h"
#include "experiments/report/write_report.h"
#include "experiments/run/model_cost.h"
#include "training/storage/durable_file.h"

namespace ablate::commands {
namespace {

enum class Format { text, csv, json, markdown, latex };

struct ReportRequest {
  std::string folder;
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

void report(const ReportRequest& request) {
  const exchange::OpenedStudy opened(request.folder);
  if (!request.to.empty() && !opened.packed())
    throw UsageError("--to is for packed studies; the report of a folder is written into it");
  const auto& folder = opened.folder();
  const auto study = records::read_frozen(folder, run::counted_parameters());
  const auto runs = records::read_runs(study, folder);
  const auto evidence = analysis::make_evidence(study, runs);
  report::write_report(study, runs, evidence, position_pictures(study));
  if (!request.to.empty()) keep_report(folder, request.to);
  std::cout << (request.format ? written_as(*request.format, evidence)
                               : report::terminal_table(evidence));
  if (!opened.packed()) std::cerr << "report: " << folder.report().string() << "\n";
  if (!request.to.empty())
    std::cerr << "report: " << records::StudyFolder(request.to).report().string() << "\n";
}

}  // namespace

void add_report(CLI::App& app) {
  auto request = std::make_shared<ReportRequest>();
  auto* verb = app.add_subcommand("report", "Make a study's report and tables again from its runs");
  verb->add_option("folder", request->folder,
                   "The study's file, its folder, <output>/<study>, or a file of ablate pack")
      ->required();
  verb->add_option("--to", request->to, "Folder for the report's files of a packed study");
  verb->add_option("--format", request->format, "Print the whole table, in this format")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, Format>{{"text", Format::text},
                                                                {"csv", Format::csv},
                                                                {"json", Format::json},
                                                                {"markdown", Format::markdown},
                                                                {"latex", Format::latex}})
              .description(""))
      ->type_name("{text,csv,json,markdown,latex}");
  verb->footer(
      "Does not train. Writes report.html, forest.svg, results.jsonl, results.csv, results.json, "
      "table.txt, table.md and table.tex into the folder, as 'ablate run' does; those of a packed "
      "study only with --to. Prints the verdicts, or with --format one of the tables.\n"
      "Examples:\n"
      "  ablate report runs/quickstart\n"
      "  ablate report runs/quickstart --format latex > table.tex");
  verb->callback([request] { report(*request); });
}

}  // namespace ablate::commands
