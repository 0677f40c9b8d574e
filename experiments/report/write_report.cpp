#include "experiments/report/write_report.h"

#include "experiments/report/page/page.h"
#include "experiments/report/read_report_data.h"
#include "experiments/report/table/table.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::report {
namespace {

void write_tables(const records::StudyRuns& runs, const analysis::Evidence& evidence) {
  std::string lines;
  for (const auto& result : runs.results) lines += training::to_json(result).dump() + "\n";
  training::write_durably(runs.folder.result_lines(), lines);
  training::write_durably(runs.folder.csv(), csv_table(evidence));
  training::write_durably(runs.folder.json(), json_table(evidence));
  training::write_durably(runs.folder.text_table(), terminal_table(evidence));
  training::write_durably(runs.folder.markdown_table(), markdown_table(evidence));
  training::write_durably(runs.folder.latex_table(), latex_table(evidence));
}

}  // namespace

void write_report(const config::Study& study, const records::StudyRuns& runs,
                  const analysis::Evidence& evidence, std::vector<PositionPicture> positions) {
  write_tables(runs, evidence);
  auto data = read_report_data(study, runs.folder);
  data.positions = std::move(positions);
  training::write_durably(runs.folder.report(), report_page(evidence, data));
}

}  // namespace ablate::report
