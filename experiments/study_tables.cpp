#include "experiments/study_tables.h"

#include "experiments/table/table.h"
#include "training/checkpoint/durable_file.h"
#include "training/checkpoint/finite_json.h"

namespace ablate::experiments {

void write_tables(const Evidence& evidence, const StudyRuns& runs) {
  std::string lines;
  for (const auto& result : runs.results) lines += training::to_json(result).dump() + "\n";
  training::write_durably(runs.folder.result_lines(), lines);
  training::write_durably(runs.folder.csv(), csv_table(evidence));
  training::write_durably(runs.folder.json(), json_table(evidence));
  training::write_durably(runs.folder.text_table(), terminal_table(evidence));
  training::write_durably(runs.folder.markdown_table(), markdown_table(evidence));
  training::write_durably(runs.folder.latex_table(), latex_table(evidence));
}

}  // namespace ablate::experiments
