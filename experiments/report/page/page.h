#pragma once

#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/report/page/parts.h"
#include "experiments/report/report_data.h"

namespace ablate::report {

/// The whole report as one self-contained HTML file: no script, no network, its style and pictures
/// inside. It is well-formed XML too.
std::string report_page(const analysis::Evidence& evidence, const ReportData& data);

/// A page of anything else, likewise, with the same style.
std::string page(const std::string& title, const Markup& content);

/// A page of only position schemes; `words` describe them.
std::string pictures_page(const std::string& words, const std::vector<PositionPicture>& pictures);

// The sections of the page, in its order; one without content is empty.

Markup opening(const analysis::Evidence& evidence);       // question, answer, runs
Markup missing_runs(const analysis::Evidence& evidence);  // first, if there are any
Markup expectations(const analysis::Evidence& evidence);
Markup ablation(const TaskView& view);  // the table of the leading metric
Markup scores(const TaskView& view);    // every seed and every metric, folded
Markup curves(const TaskView& view);    // of training and validation
Markup lengths(const TaskView& view);   // scores over lengths
Markup position_accuracies(const TaskView& view);
Markup size_fits(const TaskView& view);  // power laws over the arms' parameters
Markup expert_loads(const TaskView& view);
Markup observations(const TaskView& view);  // layer by layer, of each arm's first run
Markup samples(const TaskView& view);
Markup over_tasks(const analysis::Evidence& evidence, const Looks& looks);
Markup tuning(const analysis::Evidence& evidence,
              const Looks& looks);  // the values that tune tried
Markup configurations(const analysis::Evidence& evidence, const ReportData& data);
Markup position_pictures(const std::vector<PositionPicture>& pictures);
Markup environment(const ReportData& data);
Markup repetition(const ReportData& data, const Looks& looks);
Markup notes(const analysis::Evidence& evidence);

}  // namespace ablate::report
