#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ablate::training {

/// One point of a curve.
struct Scalar {
  std::string tag;
  double value;
};

/// What the hparams page shows of a run; runs with one `group` are replicates, shown together.
struct Session {
  std::string group;
  std::map<std::string, std::variant<bool, double, std::string>> parameters;
};

/// The first event of every file.
struct FileVersion {};

/// Readers drop what earlier files hold of this step and later ones.
struct Restart {};

/// The run has come to its end.
struct SessionEnd {};

/// One entry of an event file.
struct Event {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::variant<FileVersion, Restart, Session, std::vector<Scalar>, SessionEnd> what;
};

/// The event as a protocol buffer (TensorBoard's event.proto, summary.proto, hparams
/// plugin_data.proto).
std::string encode(const Event& event);

/// `event` with its length and both checksums, as TFRecord has it.
std::string framed(std::string_view event);

/// The numbers of a line of metrics.jsonl: training/<key>, validation/<key>,
/// <module of a mixture>/<key> or <place>/<what is observed there>. Lists, texts and the step
/// itself are left out.
std::vector<Scalar> scalars_of(const nlohmann::json& record);

}  // namespace ablate::training
