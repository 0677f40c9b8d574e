#pragma once

#include "experiments/report/page/parts.h"

namespace ablate::report {

// The sections of the page, in its order; one without content is empty.

Markup opening(const analysis::Evidence& evidence);       // question, answer, what was run
Markup missing_runs(const analysis::Evidence& evidence);  // first, where there are any
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
Markup tuning(const analysis::Evidence& evidence, const Looks& looks);  // what tune tried
Markup configurations(const analysis::Evidence& evidence, const ReportData& data);
Markup position_pictures(const std::vector<PositionPicture>& pictures);
Markup environment(const ReportData& data);
Markup repetition(const ReportData& data, const Looks& looks);
Markup notes(const analysis::Evidence& evidence);

}  // namespace ablate::report
