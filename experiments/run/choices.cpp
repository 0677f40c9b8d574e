#include "experiments/run/choices.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/shared_text.h"
#include "experiments/config/schema/printer.h"
#include "experiments/config/yaml/problem.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/run_start.h"
#include "experiments/run/run_data.h"

namespace ablate::run {
namespace {

/// Data and the base of its relative paths.
struct Place {
  data::DataOptions data;
  std::filesystem::path folder;
};

/// The run that another one starts from.
struct Origin {
  config::Experiment experiment;
  std::filesystem::path folder;                     // of its data
  std::optional<records::RunFolder> finished = {};  // its own; absent: an arm of the study
};

std::optional<Origin> finished_run(const records::RunFolder& folder) {
  if (!std::filesystem::exists(folder.config())) return {};
  return Origin{records::planned_experiment(folder), records::data_folder_of(folder.path, ""),
                folder};
}

/// The run, or the arm of its own study, from which `one` starts.
std::optional<Origin> origin_of(const config::Study& study, const std::string& task,
                                const Origin& one) {
  const auto& from = one.experiment.training.init_from;
  if (from.run) return finished_run(records::RunFolder(one.folder / *from.run));
  if (!from.arm) return {};
  if (one.finished) return finished_run(one.finished->of_arm(*from.arm));
  const auto* arm = config::configuration_of(study.configurations, task, *from.arm);
  if (arm == nullptr) return {};
  return Origin{arm->experiment, study.data_folder};
}

/// Whether validations have chosen the weights that the run starts with.
bool starts_from_chosen(const config::Experiment& run, const Origin& source) {
  using training::StartWeights;
  const auto weights = run.training.init_from.weights;
  return weights == StartWeights::best ||
         (weights == StartWeights::evaluated && source.experiment.training.patience > 0);
}

/// Compares what choices are made on with what is tested on, each pair once.
class Choices {
 public:
  explicit Choices(const config::Study& study) : study_(study) {}

  void check(const config::RunSpecification& run) {
    const Place own{run.experiment.data, study_.data_folder};
    if (study_.tuning && !study_.tuning->on_test_text && run.experiment.training.trains())
      require({"tune would choose values on the test text", run, config::kOnTestText}, own, own);
    if (run.experiment.training.patience > 0)
      require({"training.patience would choose weights on the test text", run}, own, own);
    check_origins(run, own);
  }

 private:
  /// The runs that `run` starts from, directly or by way of others.
  void check_origins(const config::RunSpecification& run, const Place& own) {
    constexpr int kMost = 100;  // runs, should folders that were moved name each other
    Origin at{run.experiment, study_.data_folder};
    for (int i = 0; i < kMost; ++i) {
      const auto source = origin_of(study_, run.task, at);
      if (!source) return;
      if (starts_from_chosen(at.experiment, *source))
        require({"training.init_from.weights were chosen on the test text", run},
                {source->experiment.data, source->folder}, own);
      at = *source;
    }
  }

  struct Choice {
    const char* what;
    const config::RunSpecification& run;
    const char* remedy = "";  // besides another test text
  };

  void require(const Choice& choice, const Place& validation, const Place& test) {
    const auto found = shared(validation, test);
    if (!found) return;
    throw config::ConfigError(
        {{.file = study_.file.string(),
          .message = fmt::format(
              "{}: by their content, the test set '{}' and the validation set are the same, or one "
              "is for the most part in the other (task '{}', arm '{}'); {}{}",
              choice.what, *found, choice.run.task, choice.run.arm, data::own_test(test.data),
              choice.remedy)}});
  }

  const std::optional<std::string>& shared(const Place& validation, const Place& test) {
    const auto key = std::pair(key_of(validation), key_of(test));
    const auto found = compared_.find(key);
    if (found != compared_.end()) return found->second;
    auto corpus = data::load(test.data, test.folder, kDataSeed);
    if (key.first != key.second) corpus.validation = validation_of_earlier(validation);
    return compared_[key] = data::test_in_validation(corpus, test.data);
  }

  /// Empty if the data of an earlier run is no longer there, which training from it does not need.
  static std::vector<data::Example> validation_of_earlier(const Place& place) {
    try {
      return data::load(place.data, place.folder, kDataSeed).validation;
    } catch (const data::DataError&) {
      return {};
    }
  }

  static std::string key_of(const Place& place) {
    return place.folder.string() + "\n" + config::canonical({.data = place.data});
  }

  const config::Study& study_;
  std::map<std::pair<std::string, std::string>, std::optional<std::string>> compared_;
};

}  // namespace

void check_choices(const config::Study& study) {
  Choices choices(study);
  for (const auto& run : study.runs)
    if (run.seed == study.seeds.front()) choices.check(run);
}

}  // namespace ablate::run
