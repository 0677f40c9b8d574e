#pragma once

#include <string>

#include "experiments/evidence/evidence.h"
#include "experiments/report/report_data.h"

namespace ablate::experiments {

/// The whole report as one HTML file that needs nothing else: no script, no network, its style and
/// pictures inside. It is well-formed XML too.
std::string report_page(const Evidence& evidence, const ReportData& data);

}  // namespace ablate::experiments
