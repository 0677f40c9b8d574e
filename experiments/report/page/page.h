#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/report/report_data.h"

namespace ablate::report {

/// The whole report as one HTML file that needs nothing else: no script, no network, its style and
/// pictures inside. It is well-formed XML too.
std::string report_page(const analysis::Evidence& evidence, const ReportData& data);

/// A page of anything else, likewise, with the same style.
std::string page(const std::string& title, const Markup& content);

/// A page of position schemes alone; `words` say what was drawn.
std::string pictures_page(const std::string& words, const std::vector<PositionPicture>& pictures);

}  // namespace ablate::report
