#include "experiments/report/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/statistics/mean.h"
#include "experiments/config/option.h"
#include "experiments/config/printer.h"
#include "experiments/errors.h"
#include "experiments/records/folders.h"
#include "experiments/records/result.h"
#include "training/storage/finite_json.h"

namespace ablate::report {
namespace {

using std::filesystem::path;

/// The finished runs of one column, and the configuration of the first.
struct Column {
  std::string name;
  path folder;
  std::vector<records::RunResult> results;
  std::vector<std::pair<std::string, std::string>> leaves;  // path, value
};

std::vector<std::pair<std::string, std::string>> leaves_of(const config::Experiment& experiment) {
  std::vector<std::pair<std::string, std::string>> leaves;
  const auto text = config::canonical(experiment);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin), equals = text.find('=', begin);
    leaves.emplace_back(text.substr(begin, equals - begin),
                        text.substr(equals + 1, end - equals - 1));
    begin = end + 1;
  }
  return leaves;
}

bool is_run(const path& folder) {
  return std::filesystem::exists(records::RunFolder(folder).config());
}

/// The run folders at or below `folder`, in order of their names.
std::vector<path> run_folders(const path& folder) {
  if (is_run(folder)) return {folder};
  std::vector<path> found, below;
  if (!std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) below.push_back(entry.path());
  std::ranges::sort(below);
  for (const auto& one : below)
    for (auto& run : run_folders(one)) found.push_back(std::move(run));
  return found;
}

std::vector<Column> columns_of(const path& folder) {
  std::vector<Column> columns;
  std::map<path, size_t> of_arm;
  const bool single = is_run(folder);
  for (const auto& run : run_folders(folder)) {
    auto result = records::read_result(run);
    if (!result) continue;
    const auto [place, fresh] = of_arm.try_emplace(run.parent_path(), columns.size());
    if (fresh)
      columns.push_back(
          {.name = fmt::format("{}/{}", result->task, result->arm) +
                   (single ? fmt::format("/seed-{}", result->seed) : ""),
           .folder = single ? run : run.parent_path(),
           .leaves = leaves_of(config::read_experiment(records::RunFolder(run).config()))});
    columns[place->second].results.push_back(std::move(*result));
  }
  if (columns.empty())
    throw UsageError(folder.string() + " holds no finished run; give run or study folders");
  return columns;
}

std::string value_at(const Column& column, const std::string& key) {
  const auto found =
      std::ranges::find(column.leaves, key, [](const auto& leaf) { return leaf.first; });
  return found == column.leaves.end() ? "" : found->second;
}

std::vector<ComparedKey> keys_of(const std::vector<Column>& columns) {
  std::vector<ComparedKey> keys;
  for (const auto& column : columns)
    for (const auto& [leaf, unused] : column.leaves) {
      if (std::ranges::find(keys, leaf, &ComparedKey::path) != keys.end()) continue;
      ComparedKey key{.path = leaf};
      for (const auto& other : columns) key.values.push_back(value_at(other, leaf));
      key.differs = std::ranges::count(key.values, key.values.front()) != std::ssize(key.values);
      keys.push_back(std::move(key));
    }
  return keys;
}

std::vector<double> means(const std::vector<Column>& columns,
                          const std::function<double(const records::RunResult&)>& value) {
  std::vector<double> found;
  for (const auto& column : columns) {
    std::vector<double> values;
    for (const auto& result : column.results) values.push_back(value(result));
    found.push_back(statistics::mean(values));
  }
  return found;
}

std::vector<ComparedScore> compared_scores(const std::vector<Column>& columns) {
  std::vector<ComparedScore> scores;
  scores.push_back({"", "parameters", config::Direction::neither,
                    means(columns, [](const records::RunResult& run) {
                      return static_cast<double>(run.parameters);
                    })});
  scores.push_back({"", "training_seconds", config::Direction::neither,
                    means(columns, [](const records::RunResult& run) {
                      return run.steps > 0 ? run.training_seconds : records::kNotMeasured;
                    })});
  for (const auto& metric : config::run_metrics())
    scores.push_back(
        {"", metric.name, metric.direction, means(columns, [&](const records::RunResult& run) {
           return records::value_of(run, metric);
         })});
  for (const auto& column : columns)
    for (const auto& test : column.results.front().tests)
      for (const auto& metric : config::metrics_on(test.compared)) {
        const bool there = std::ranges::any_of(scores, [&](const ComparedScore& score) {
          return score.test_set == test.name && score.metric == metric.name;
        });
        if (!there)
          scores.push_back({test.name, metric.name, metric.direction,
                            means(columns, [&](const records::RunResult& run) {
                              return records::value_on(run, test.name, metric);
                            })});
      }
  std::erase_if(scores, [](const ComparedScore& score) {
    return std::ranges::all_of(score.values, [](double value) { return std::isnan(value); });
  });
  return scores;
}

/// Whether all runs that have such a digest have the same one.
bool share(const std::vector<Column>& columns,
           const std::function<std::string(const records::RunResult&)>& digest) {
  std::set<std::string> found;
  for (const auto& column : columns)
    for (const auto& result : column.results)
      if (auto one = digest(result); !one.empty()) found.insert(std::move(one));
  return found.size() <= 1;
}

std::string tokens_of(const records::RunResult& run) {
  return records::scores_classes(run) ? "" : run.target_tokenizer_sha256;
}

std::string score_figure(const ComparedScore& score, double value) {
  if (score.metric == "parameters" && !std::isnan(value))
    return analysis::count_figure(static_cast<int64_t>(value));
  return score.metric == "training_seconds" && !std::isnan(value)
             ? fmt::format("{:.0f}", value)
             : analysis::figure(value, score.metric);
}

/// Whether the values of a row can be held against each other.
bool is_alike(const RunComparison& comparison, const ComparedScore& score) {
  const auto* metric = config::find_metric(score.metric);
  return comparison.same_data &&
         (comparison.same_tokens || metric == nullptr || !metric->per_token);
}

std::string label_of(const ComparedScore& score) {
  const auto label = score.test_set.empty()
                         ? analysis::spoken(score.metric)
                         : score.test_set + ": " + analysis::spoken(score.metric);
  return score.direction == config::Direction::neither
             ? label
             : fmt::format("{} ({} is better)", label, config::word_of(score.direction));
}

}  // namespace

RunComparison compare_runs(const std::vector<path>& folders) {
  std::vector<Column> columns;
  for (const auto& folder : folders)
    for (auto& column : columns_of(folder)) columns.push_back(std::move(column));
  RunComparison comparison;
  for (const auto& column : columns) {
    const auto alike = std::ranges::count(columns, column.name, &Column::name);
    comparison.columns.push_back(
        {alike > 1 ? column.folder.string() : column.name, std::ssize(column.results)});
  }
  comparison.keys = keys_of(columns);
  comparison.scores = compared_scores(columns);
  comparison.same_tokens = share(columns, tokens_of);
  comparison.same_data =
      share(columns, [](const records::RunResult& run) { return run.data_sha256; });
  return comparison;
}

Grid grid_of(const RunComparison& comparison, bool all) {
  Grid grid{.headings = {""}, .names = 1};
  for (const auto& column : comparison.columns)
    grid.headings.push_back(column.runs > 1 ? fmt::format("{} ({} seeds)", column.name, column.runs)
                                            : column.name);
  for (const auto& key : comparison.keys) {
    if (!all && !key.differs) continue;
    GridRow row{{key.path}};
    for (const auto& value : key.values) row.push_back({value.empty() ? "-" : value});
    grid.rows.push_back(std::move(row));
  }
  for (const auto& score : comparison.scores) {
    GridRow row{{label_of(score)}};
    for (size_t i = 0; i < score.values.size(); ++i)
      row.push_back({score_figure(score, score.values[i]),
                     is_alike(comparison, score) &&
                         analysis::is_best(score.values, i, {score.metric, score.direction})});
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::string json_of(const RunComparison& comparison) {
  auto columns = nlohmann::json::array(), keys = columns, scores = columns;
  for (const auto& column : comparison.columns)
    columns.push_back({{"name", column.name}, {"runs", column.runs}});
  for (const auto& key : comparison.keys)
    keys.push_back({{"path", key.path}, {"values", key.values}, {"differs", key.differs}});
  for (const auto& score : comparison.scores) {
    nlohmann::json one{
        {"test_set", score.test_set}, {"metric", score.metric}, {"values", score.values}};
    if (score.direction != config::Direction::neither)
      one["direction"] = config::word_of(score.direction);
    scores.push_back(std::move(one));
  }
  return training::without_non_finite({{"columns", std::move(columns)},
                                       {"keys", std::move(keys)},
                                       {"scores", std::move(scores)},
                                       {"same_tokens", comparison.same_tokens},
                                       {"same_data", comparison.same_data}})
             .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace ablate::report
