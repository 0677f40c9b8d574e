#include "experiments/rung_score.h"

#include <nlohmann/json.hpp>
#include <string>

#include "training/checkpoint/durable_file.h"
#include "training/checkpoint/finite_json.h"

namespace ablate::experiments {
namespace {

std::filesystem::path file_of(const std::filesystem::path& run, int64_t step) {
  return run / ("rung-" + std::to_string(step) + ".json");
}

}  // namespace

void write_rung(const std::filesystem::path& run, int64_t step, const RungScore& score) {
  nlohmann::json json;
  RungScore::fields(score, [&](const char* name, const auto& value) { json[name] = value; });
  training::write_durably(file_of(run, step),
                          training::without_non_finite(std::move(json)).dump(2) + "\n");
}

std::optional<RungScore> read_rung(const std::filesystem::path& run, int64_t step) {
  const auto file = file_of(run, step);
  if (!std::filesystem::exists(file)) return {};
  try {
    const auto json = training::with_non_finite(nlohmann::json::parse(training::read_bytes(file)));
    RungScore score;
    RungScore::fields(score, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    return score;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace ablate::experiments
