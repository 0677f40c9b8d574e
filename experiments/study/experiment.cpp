#include "experiments/study/experiment.h"

#include <algorithm>

#include "experiments/study/reader.h"
#include "experiments/study/schema.h"

namespace ablate::experiments {
namespace {

struct CollectVariants {
  std::map<std::string, VariantPath> found;

  template <class... Options>
  void variant(const std::string& path, const std::variant<Options...>& slot, std::string_view) {
    const auto key = discriminator_of<std::variant_alternative_t<0, std::variant<Options...>>>();
    const auto initial = std::visit([](const auto& o) { return std::string(o.name); }, slot);
    found[path] = {std::string(key), initial};
  }
  template <class Slot>
  void leaf(const std::string&, const Slot&, std::string_view) {}
};

struct CollectPaths {
  std::vector<std::string> found;

  template <class... Options>
  void variant(const std::string& path, const std::variant<Options...>&, std::string_view) {
    const auto key = discriminator_of<std::variant_alternative_t<0, std::variant<Options...>>>();
    found.push_back(path + "." + std::string(key));
  }
  template <class Slot>
  void leaf(const std::string& path, const Slot&, std::string_view) {
    if (std::ranges::find(found, path) == found.end()) found.push_back(path);
  }
};

template <class Collect>
auto collected() {
  Collect collect;
  walk(Experiment{}, "", collect);
  return std::move(collect.found);
}

}  // namespace

const std::map<std::string, VariantPath>& experiment_variants() {
  static const auto variants = collected<CollectVariants>();
  return variants;
}

const std::vector<std::string>& experiment_paths() {
  static const auto paths = collected<CollectPaths>();
  return paths;
}

ReadExperiment read_experiment(const Value& value, Problems& problems) {
  ReadExperiment result;
  Reader reader(problems, experiment_paths());
  reader.read(value, "", result.experiment);
  result.origins = reader.origins();
  return result;
}

}  // namespace ablate::experiments
