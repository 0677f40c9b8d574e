#include "experiments/write_report.h"

#include "experiments/plot/position_pictures.h"
#include "experiments/report/page.h"
#include "experiments/report_source.h"
#include "training/checkpoint/durable_file.h"

namespace ablate::experiments {

std::filesystem::path write_report(const Study& study, const Evidence& evidence,
                                   const StudyFolder& folder) {
  auto data = read_report_data(study, folder);
  data.positions = position_pictures(study);
  training::write_durably(folder.report(), report_page(evidence, data));
  return folder.report();
}

}  // namespace ablate::experiments
