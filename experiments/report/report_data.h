#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "experiments/records/spent.h"
#include "experiments/report/chart/heat_map.h"
#include "experiments/report/chart/line_chart.h"

namespace ablate::report {

/// The loads of one mixture of experts over a run.
struct ExpertLoad {
  std::string module;
  std::vector<double> steps;
  std::vector<std::vector<double>> shares;  // at each step, of the choices that each expert got
  std::vector<double> entropy;              // at each step, of the router's probabilities, in nats
};

/// A figure of one place in a model, as a run observed it.
struct ObservedFigure {
  std::string what, place;
  std::vector<Point> points;              // over steps
  std::vector<std::vector<Point>> heads;  // the same of each head of an attention
};

/// Token accuracy at each target position, from the first.
struct PositionAccuracy {
  std::string test_set;
  std::vector<double> accuracy;
};

/// A loss in a run's log, and what training had spent until then.
struct LossPoint {
  records::Spent spent{};
  double loss = 0;  // nats per target token
};

/// The records in a run's folder besides its scores.
struct RunRecord {
  std::string task, arm;
  int64_t seed = 0;
  std::vector<LossPoint> training, validation;
  std::vector<ExpertLoad> experts;
  std::vector<ObservedFigure> observed;
  std::vector<PositionAccuracy> positions;
};

/// The output of an arm for an example.
struct SampleOutput {
  std::string arm, text;
  bool exact = false;  // as exact match is counted
};

/// One example of a test set and the outputs of the arms.
struct SampleOutputs {
  std::string task, test_set;
  int64_t seed = 0;
  std::string source, reference;
  std::vector<SampleOutput> outputs;
};

/// How a position scheme looks before training.
struct PositionPicture {
  std::string scheme;
  std::vector<std::string> arms;  // that use it
  std::string stack;              // in which it is drawn: "48 positions, d_model 64, 4 heads"
  std::vector<HeatMap> maps;
  std::vector<LineChart> charts;
};

/// A fact of the machines and programs, with the number of runs it is true of.
struct EnvironmentFact {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> values;
};

struct TaskConfiguration {
  std::string task;
  std::string yaml;  // of the baseline, or else of the first arm
};

/// The command that repeats a row of a table.
struct RowCommand {
  std::string task, arm, command;
};

/// The data of the page besides the evidence.
struct ReportData {
  std::vector<RunRecord> runs;
  std::vector<SampleOutputs> samples;
  std::vector<PositionPicture> positions;
  std::vector<TaskConfiguration> configurations;
  std::vector<EnvironmentFact> environment;
  std::string command;  // repeats the whole study
  std::vector<RowCommand> commands;
};

}  // namespace ablate::report
