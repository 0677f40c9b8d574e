#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/report/chart/forest.h"
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

/// The difference of every arm from its baseline in the metric of the claims, by test set;
/// exploratory test sets on which no run differs are left out. No panel without a finished
/// comparison.
Forest forest_of(const analysis::Evidence& evidence);

// The parts of the page, in its order, without the headings of sections; one without content is
// empty.

Markup opening(const analysis::Evidence& evidence);       // question and answer
Markup forest(const analysis::Evidence& evidence);        // the answer as a picture
Markup facts(const analysis::Evidence& evidence);         // what was compared
Markup missing_runs(const analysis::Evidence& evidence);  // first, if there are any
Markup expectations(const analysis::Evidence& evidence);
Markup ablation(const TaskView& view);             // the table of the leading metric
Markup files(const analysis::Evidence& evidence);  // links to the tables beside the page
Markup components(const TaskView& view);           // of variance, of crossed seeds
Markup scores(const TaskView& view);               // every seed and every metric, folded
Markup costs(const TaskView& view);          // what the arms spent, also until they reach a target
Markup cost_pictures(const TaskView& view);  // the leading metric over each cost
Markup curves(const TaskView& view);         // of training and validation, over all that is spent
Markup lengths(const TaskView& view);        // scores over lengths
Markup position_accuracies(const TaskView& view);  // folded
Markup size_fits(const TaskView& view);            // power laws over the arms' parameters
Markup expert_loads(const TaskView& view);
Markup observations(const TaskView& view);  // layer by layer, of each arm's first run
Markup samples(const TaskView& view);
/// Effects and scores over the study's sizes or a key of its grid, of one of `all` its ladders.
/// Charts of one metric have the same scale of y.
Markup ladder(const analysis::Ladder& ladder, std::span<const analysis::Ladder> all,
              const Looks& looks);
Markup over_tasks(const analysis::Evidence& evidence, const Looks& looks);
Markup tuning(const analysis::Evidence& evidence, const Looks& looks);  // tried, and chosen
Markup configurations(const analysis::Evidence& evidence, const ReportData& data);
Markup position_pictures(const std::vector<PositionPicture>& pictures);
Markup position_schemes(const std::vector<PositionPicture>& pictures);  // the same, folded
Markup environment(const ReportData& data);
Markup repetition(const std::string& study, const ReportData& data, const Looks& looks);
Markup notes(const analysis::Evidence& evidence);

}  // namespace ablate::report
