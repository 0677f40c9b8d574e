#include "experiments/cli/decoding_flags.h"

#include <fmt/format.h>

#include "experiments/errors.h"

namespace ablate::cli {
namespace {

constexpr const char* kSamplingSeed = "sampling.random_seed";

/// Options of sampling stand without the name of their section: sampling.top_k is --top-k.
std::string short_name(const std::string& name) {
  constexpr std::string_view kSampling = "sampling.";
  if (name == kSamplingSeed) return "seed";
  return name.starts_with(kSampling) ? name.substr(kSampling.size()) : name;
}

}  // namespace

void DecodingFlags::add(CLI::App& verb) {
  verb.add_flag("--sample", sample_,
                "Draw outputs at random instead of searching; flags of how imply it");
  section_.add(verb, "decoding", {.left_out = {"sampling.kind"}, .rename = short_name});
}

models::SearchOptions DecodingFlags::over(const config::Experiment& experiment,
                                          std::optional<int64_t> n_best) const {
  auto flags = section_;
  flags.forget(kSamplingSeed);  // which alone draws nothing
  const bool random = sample_ || flags.given("sampling") ||
                      std::holds_alternative<models::RandomSampling>(experiment.decoding.sampling);
  if (random) {
    flags = section_;
    flags.set("sampling.kind", std::string(models::RandomSampling::name));
  }
  const auto options = flags.over(experiment).decoding;
  if (random && section_.given("beam") && options.beam > 1)
    throw UsageError("--beam searches and --sample draws; choose one");
  if (section_.given("beam") && !random && options.beam < n_best)
    throw UsageError(
        fmt::format("--n-best {0} needs a beam that keeps as many; raise --beam {1} to {0}",
                    *n_best, options.beam));
  return options;
}

}  // namespace ablate::cli
