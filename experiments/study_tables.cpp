#include "experiments/study_tables.h"

#include "experiments/table/table.h"
#include "training/checkpoint/durable_file.h"

namespace ablate::experiments {

void write_tables(const Evidence& evidence, const StudyRuns& runs) {
  std::string lines;
  for (const auto& result : runs.results) lines += to_json(result).dump() + "\n";
  training::write_durably(runs.folder / "results.jsonl", lines);
  training::write_durably(runs.folder / "results.csv", csv_table(evidence));
  training::write_durably(runs.folder / "results.json", json_table(evidence));
  training::write_durably(runs.folder / "table.txt", terminal_table(evidence));
  training::write_durably(runs.folder / "table.md", markdown_table(evidence));
  training::write_durably(runs.folder / "table.tex", latex_table(evidence));
}

}  // namespace ablate::experiments
