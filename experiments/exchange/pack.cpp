#include "experiments/exchange/pack.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "experiments/errors.h"
#include "experiments/exchange/format/seal.h"
#include "experiments/records/frozen_study.h"
#include "tokenizer/text/digest.h"
#include "training/device.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"

namespace ablate::exchange {
namespace {

namespace fs = std::filesystem;

/// Each file that is equal to another one in the pack, and the path of that one.
constexpr const char* kEqualFiles = "equal_files.json";

/// Whether a file of a pack belongs to its archive and not to the study.
bool is_of_archive(std::string_view name) {
  return name == kEqualFiles || name == "version" || name == "byteorder" ||
         name.starts_with(".data/") || name == ".format_version" || name == ".storage_alignment";
}

/// Whether a file at this path within the folder of a study is a record of it.
bool is_record(const fs::path& within) {
  const fs::path checkpoints = records::RunFolder(fs::path()).checkpoints();
  const fs::path launches = *records::StudyFolder(fs::path()).wave(1).path.begin();
  const auto name = within.filename().string();
  if (is_of_archive(within.generic_string())) return false;  // of a pack that was unzipped
  if (name.starts_with(".") || name.find("tfevents") != std::string::npos) return false;
  return std::ranges::none_of(
      within, [&](const fs::path& part) { return part == checkpoints || part == launches; });
}

/// Throws CheckpointError unless `name` stays below the folder that it is unpacked to.
void check_name(const std::string& name, const fs::path& pack) {
  const fs::path path(name);
  const bool leaves = path.is_absolute() || std::ranges::any_of(path, [](const fs::path& part) {
                        return part == ".." || part == ".";
                      });
  if (name.empty() || leaves)
    throw training::CheckpointError(fmt::format(
        "{} is damaged: it names {}, a file outside of its study", pack.string(), name));
}

[[noreturn]] void throw_damaged(const fs::path& file) {
  throw training::CheckpointError(
      file.string() + " is damaged, or was not made by `ablate pack`; make it again with that");
}

using Equals = std::map<std::string, std::string>;

/// The content of kEqualFiles in `folder`; empty if there is no such file.
Equals equal_files(const fs::path& folder, const fs::path& pack) {
  const auto file = folder / kEqualFiles;
  if (!fs::exists(file)) return {};
  try {
    auto equals = nlohmann::json::parse(training::read_bytes(file)).get<Equals>();
    for (const auto& [name, same] : equals) {
      check_name(name, pack);
      check_name(same, pack);
    }
    return equals;
  } catch (const nlohmann::json::exception&) {
    throw_damaged(pack);
  }
}

/// The study's files by their paths in a pack. In a pack that was unzipped several paths may have
/// one file.
std::map<fs::path, fs::path> files_of(const records::StudyFolder& folder) {
  std::map<fs::path, fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path))
    if (entry.is_regular_file())
      if (const auto within = fs::relative(entry.path(), folder.path); is_record(within))
        files[within] = entry.path();
  for (const auto& [name, same] : equal_files(folder.path, folder.path))
    files.try_emplace(name, folder.path / same);
  return files;
}

/// Throws CheckpointError if the file cannot have been written by pack(), or has changed since.
void require_pack(const fs::path& file) {
  const auto bytes = training::read_bytes(file);
  const bool is_zip = bytes.starts_with("PK");
  const bool is_whole = bytes.find("PK\x05\x06") != std::string::npos;  // the end of every ZIP file
  if (is_zip && !is_whole)
    throw training::CheckpointError(file.string() +
                                    " is damaged; make it again with `ablate pack`");
  if (!is_zip || bytes.find("/study.yaml") == std::string::npos)
    throw training::CheckpointError(
        file.string() + " is no packed study (it has no study.yaml); make one with `ablate pack`");
  try {
    check_seal(bytes, file.string());
  } catch (const training::CheckpointError&) {
    throw_damaged(file);
  }
}

/// LibTorch puts all files below a folder of the archive's name.
void write_archive(const records::StudyFolder& folder, const fs::path& archive) {
  try {
    caffe2::serialize::PyTorchStreamWriter writer(archive.string());
    const auto write = [&](const std::string& name, const std::string& content) {
      writer.writeRecord(name, content.data(), content.size(), true);
    };
    Equals first, equals;  // by digest; by path
    for (const auto& [within, from] : files_of(folder)) {
      const auto name = within.generic_string();
      const auto content = training::read_bytes(from);
      const auto [same, fresh] = first.try_emplace(tokenizer::sha256(content), name);
      if (fresh)
        write(name, content);
      else
        equals[name] = same->second;
    }
    if (!equals.empty()) write(kEqualFiles, nlohmann::json(equals).dump(1));
    writer.writeEndOfFile();
  } catch (const c10::Error& error) {
    if (training::is_out_of_memory(error)) throw;
    throw training::IoError(
        fmt::format("cannot write {} ({})", archive.string(), error.what_without_backtrace()));
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  auto name = (fs::temp_directory_path() / "ablate-study-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw training::io_error("make", name, errno);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void pack(const records::StudyFolder& folder, const fs::path& file) {
  if (!fs::exists(folder.study()))
    throw UsageError(folder.path.string() +
                     " is not the folder of a study (<output>/<study>): it has no study.yaml");
  const TemporaryFolder scratch;
  const auto archive = scratch.path() / (folder.path.filename().string() + ".zip");
  write_archive(folder, archive);
  training::write_durably(file, sealed(training::read_bytes(archive)));
}

bool is_pack(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  if (path.extension() == ".zip") return true;
  std::ifstream file(path, std::ios::binary);
  char magic[2] = {};
  return file.read(magic, 2) && magic[0] == 'P' && magic[1] == 'K';
}

void complete(const fs::path& folder, const fs::path& pack) {
  if (!fs::exists(folder / kEqualFiles)) return;
  for (const auto& [name, same] : equal_files(folder, pack)) {
    if (fs::exists(folder / name)) continue;
    if (!fs::exists(folder / same)) throw_damaged(pack);
    training::create_folder((folder / name).parent_path());
    training::write_durably(folder / name, training::read_bytes(folder / same));
  }
  fs::remove(folder / kEqualFiles);
}

void unpack(const fs::path& file, const fs::path& folder) {
  require_pack(file);
  try {
    caffe2::serialize::PyTorchStreamReader reader(file.string());
    for (const auto& name : reader.getAllRecords()) {
      if (is_of_archive(name) && name != kEqualFiles) continue;
      check_name(name, file);
      const auto [data, size] = reader.getRecord(name);
      training::create_folder((folder / name).parent_path());
      training::write_durably(folder / name,
                              std::string_view(static_cast<const char*>(data.get()), size));
    }
    complete(folder, file);
  } catch (const c10::Error& error) {
    if (training::is_out_of_memory(error)) throw;
    throw_damaged(file);
  }
}

OpenedStudy::OpenedStudy(const fs::path& folder_or_pack)
    : folder_(records::named_study(folder_or_pack)) {
  if (!is_pack(folder_or_pack)) {
    complete(folder_.path, folder_.path);
    return;
  }
  folder_ = unpacked_.emplace().path();
  unpack(folder_or_pack, folder_.path);
}

}  // namespace ablate::exchange
