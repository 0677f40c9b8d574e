#include "training/storage/sealed_json.h"

#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

constexpr const char* kDigest = "sha256";

}  // namespace

std::string sealed_json(nlohmann::json object) {
  object.erase(kDigest);
  object[kDigest] = tokenizer::sha256(json_file(object));
  return json_file(object);
}

nlohmann::json read_sealed_json(const std::filesystem::path& path, const std::string& remedy) {
  const auto bytes = read_bytes(path);
  auto object = parse_json(bytes);
  const auto damaged = [&](const char* how) {
    return CheckpointError(path.string() + " is damaged: " + how + remedy);
  };
  if (!object.is_object()) throw damaged("it holds no JSON object");
  if (!object.contains(kDigest)) throw damaged("it holds no digest");
  if (sealed_json(object) != bytes) throw damaged("its digest differs");
  object.erase(kDigest);
  return object;
}

}  // namespace ablate::training
