#pragma once

#include <cstdint>
#include <string>

#include "experiments/statistics/interval.h"

namespace ablate::experiments {

// Numbers as the page shows them: a true minus sign, a dash where there is none (not finite).

std::string fixed(double number, int decimals);
/// With its sign, "+0.012" or "−0.012".
std::string difference(double number, int decimals);
std::string interval(const statistics::Interval& interval, int decimals);
/// "0.031", "0.0004", "< 0.0001".
std::string probability(double p);
/// "1.06 M", "235 k", "12": three digits.
std::string large(double number);
/// Four significant digits: "0.7391", "12.35".
std::string plain(double number);
/// How many decimals a metric's values are shown with.
int decimals_of(const std::string& metric);

}  // namespace ablate::experiments
