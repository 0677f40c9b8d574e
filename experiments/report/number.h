#pragma once

#include <optional>
#include <string>

#include "experiments/analysis/statistics/interval.h"

namespace ablate::report {

// Numbers as the page shows them: figures of analysis/figure.h with true minus signs, and a dash
// where there is none.

/// A figure, or several in a text, with its hyphens as minus signs; "-" alone is a dash.
std::string typeset(const std::string& figures);

std::string score(double value, const std::string& metric);
/// With its sign: "+0.012", "\u22120.012".
std::string difference(double value, const std::string& metric);
/// "[0.984, 1.000]"; empty where there is none.
std::string interval(const std::optional<statistics::Interval>& interval,
                     const std::string& metric);

std::string fixed(double number, int decimals);
/// Four significant digits: "0.7391", "12.35".
std::string plain(double number);
/// Three digits and a unit: "1.06 M", "235 k", "12.4".
std::string large(double number);

}  // namespace ablate::report
