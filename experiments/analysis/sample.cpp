#include "experiments/analysis/sample.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "experiments/analysis/statistics/mean.h"

namespace ablate::analysis {

Sample sample_of(std::vector<double> values, const statistics::Interval& range) {
  Sample sample{.values = std::move(values)};
  const auto finished = finished_values(sample);
  sample.count = std::ssize(finished);
  sample.mean = statistics::mean(finished);
  sample.deviation = statistics::deviation(finished);
  sample.interval = statistics::t_interval(finished, range);
  return sample;
}

std::vector<double> finished_values(const Sample& sample) {
  std::vector<double> finished;
  std::ranges::copy_if(sample.values, std::back_inserter(finished),
                       [](double value) { return !std::isnan(value); });
  return finished;
}

}  // namespace ablate::analysis
