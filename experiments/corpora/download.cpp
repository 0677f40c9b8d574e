#include "experiments/corpora/download.h"

#include <fmt/format.h>

#include <optional>

#include "data/corpus.h"
#include "experiments/corpora/transfer.h"
#include "tokenizer/digest.h"
#include "training/storage/durable_file.h"

namespace ablate::corpora {
namespace {

bool is_url(const std::string& root) {
  return root.starts_with("http://") || root.starts_with("https://");
}

std::filesystem::path part_file(const Source& source, const std::filesystem::path& folder) {
  return folder / (source.sha256.substr(0, 16) + "-" + source.file_name() + ".part");
}

/// Every place where the file may be.
std::vector<std::string> places_of(const Source& source, const Mirrors& mirrors) {
  std::vector<std::string> places;
  for (auto root : mirrors.roots) {
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    places.push_back(root + "/" + source.path);
    if (mirrors.flat && source.path != source.file_name())
      places.push_back(root + "/" + source.file_name());
  }
  return places;
}

/// Throws NotTheFile unless `bytes` are those of the source.
void verify(const std::string& bytes, const Source& source) {
  if (bytes.size() != source.bytes)
    throw NotTheFile(fmt::format("has {} bytes instead of {}", bytes.size(), source.bytes));
  const auto digest = tokenizer::sha256(bytes);
  if (digest != source.sha256)
    throw NotTheFile(fmt::format("has the SHA-256 {} instead of {}", digest, source.sha256));
}

std::string read_from_folder(const std::string& place, const Source& source) {
  auto bytes = training::read_bytes(place);
  verify(bytes, source);
  return bytes;
}

std::string read_from_server(const Transfer& transfer, const Source& source) {
  std::error_code absent;
  if (const auto has = std::filesystem::file_size(transfer.part, absent);
      absent || has != source.bytes)
    bring(transfer);
  try {
    auto bytes = training::read_bytes(transfer.part);
    verify(bytes, source);
    return bytes;
  } catch (const NotTheFile&) {
    std::filesystem::remove(transfer.part);
    throw;
  }
}

/// What every place said.
struct Refusals {
  std::string text;
  bool other_bytes = false;  // some place has a file that is another one

  void add(const std::string& place, const std::string& reason) {
    text += fmt::format("\n  {}: {}", place, reason);
  }
};

}  // namespace

std::string download(const Source& source, const Mirrors& mirrors,
                     const std::filesystem::path& folder,
                     const std::function<void(uint64_t)>& progress) {
  Refusals refusals;
  for (const auto& place : places_of(source, mirrors)) {
    try {
      if (!is_url(place)) return read_from_folder(place, source);
      return read_from_server({.url = place,
                               .part = part_file(source, folder),
                               .bytes = source.bytes,
                               .patience = mirrors.patience,
                               .progress = progress},
                              source);
    } catch (const NotTheFile& error) {
      refusals.add(place, error.what());
      refusals.other_bytes = true;
    } catch (const training::IoError& error) {
      refusals.add(place, error.what());
    }
  }
  const auto message = fmt::format("cannot fetch {}:{}", source.file_name(), refusals.text);
  if (refusals.other_bytes) throw data::DataError(message);
  throw training::IoError(message);
}

void forget(const Source& source, const std::filesystem::path& folder) {
  std::filesystem::remove(part_file(source, folder));
}

}  // namespace ablate::corpora
