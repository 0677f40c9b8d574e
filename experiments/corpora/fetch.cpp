#include "experiments/corpora/fetch.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "data/corpus.h"
#include "experiments/corpora/download.h"
#include "experiments/records/exit_code.h"
#include "tokenizer/digest.h"
#include "training/process/interrupt.h"
#include "training/storage/durable_file.h"
#include "training/storage/folder_lock.h"

namespace ablate::corpora {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecord = "corpus.json";

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

uint64_t size_of(const std::vector<Source>& sources) {
  return std::accumulate(sources.begin(), sources.end(), uint64_t{0},
                         [](uint64_t sum, const Source& source) { return sum + source.bytes; });
}

Mirrors mirrors_of(const Fetch& request) {
  if (request.from.empty()) return {.roots = request.recipe.roots, .patience = request.patience};
  return {.roots = {request.from}, .flat = true, .patience = request.patience};
}

void announce(const Fetch& request) {
  const auto& recipe = request.recipe;
  request.notes << fmt::format("{}: {}\nlicence: {}\ndownload: {} {}, {}, from {}\n", recipe.name,
                               recipe.about, recipe.licence, recipe.sources.size(),
                               recipe.sources.size() == 1 ? "file" : "files",
                               megabytes(size_of(recipe.sources)),
                               mirrors_of(request).roots.front())
                << std::flush;
}

/// One line of a source's progress, written over on a terminal.
class ProgressLine {
 public:
  ProgressLine(const Fetch& request, const Source& source) : request_(request), source_(source) {}

  void at(uint64_t bytes) {
    const auto percent = source_.bytes == 0 ? 100 : 100 * bytes / source_.bytes;
    if (!request_.terminal || percent == shown_) return;
    shown_ = percent;
    request_.notes << fmt::format("\r{} {} % of {}", source_.file_name(), percent,
                                  megabytes(source_.bytes))
                   << std::flush;
  }
  void end() {
    request_.notes << fmt::format("{}{}, {}, verified\n", request_.terminal ? "\r\033[K" : "",
                                  source_.file_name(), megabytes(source_.bytes))
                   << std::flush;
  }

 private:
  const Fetch& request_;
  const Source& source_;
  uint64_t shown_ = 101;
};

Files download_all(const Fetch& request, const fs::path& downloads) {
  const training::StopRequests requests;
  Files files;
  for (const auto& source : request.recipe.sources) {
    ProgressLine line(request, source);
    files[source.file_name()] =
        download(source, mirrors_of(request), downloads, [&](uint64_t bytes) { line.at(bytes); });
    line.end();
  }
  return files;
}

nlohmann::ordered_json record_of(const Recipe& recipe, const Made& made) {
  nlohmann::ordered_json record = {{"name", recipe.name},
                                   {"licence", recipe.licence},
                                   {"comparable", recipe.comparable},
                                   {"sha256", digest(made.files)}};
  for (const auto& source : recipe.sources)
    record["sources"].push_back({{"url", recipe.roots.front() + "/" + source.path},
                                 {"bytes", source.bytes},
                                 {"sha256", source.sha256}});
  for (const auto& [name, bytes] : made.files)
    record["files"].push_back(
        {{"name", name}, {"bytes", bytes.size()}, {"sha256", tokenizer::sha256(bytes)}});
  for (const auto& count : made.counts) record["counts"][count.what] = count.number;
  return record;
}

/// Writes everything into `scratch` and gives it its name.
void write(const Recipe& recipe, const Made& made, const fs::path& scratch,
           const fs::path& corpus) {
  const training::StopRequests requests;  // which wait until the corpus is there
  try {
    fs::create_directory(scratch);
    for (const auto& [name, bytes] : made.files) training::write_synced(scratch / name, bytes);
    training::write_synced(scratch / kRecord, record_of(recipe, made).dump(2) + "\n");
    training::sync_folder(scratch);
    fs::rename(scratch, corpus);
    training::sync_folder(corpus.parent_path());
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(scratch, ignored);
    throw;
  }
}

void show(const Fetch& request, const nlohmann::ordered_json& record) {
  for (const auto& [what, number] : record.at("counts").items())
    request.notes << fmt::format("{:>10} {}\n", number.get<int64_t>(), what);
  request.notes << fmt::format("{}: SHA-256 {}\n", (request.to / request.recipe.name).string(),
                               record.at("sha256").get<std::string>());
  if (!request.recipe.sha256.empty() && record.at("sha256") != request.recipe.sha256)
    request.notes << "warning: Ablate's published results are of other bytes, of SHA-256 "
                  << request.recipe.sha256
                  << "; another version of ICU or libxml2 divides texts differently\n";
  request.notes << request.recipe.comparable << "\n" << std::flush;
}

/// The record of the corpus in a folder. Throws DataError where its files are not as it says.
nlohmann::ordered_json verified_record(const fs::path& corpus) {
  const auto damaged = [&](const std::string& file) {
    return data::DataError(fmt::format(
        "'{}' is not as it was fetched; remove the folder '{}' and run the same command again",
        (corpus / file).string(), corpus.string()));
  };
  nlohmann::ordered_json record;
  try {
    record = nlohmann::ordered_json::parse(training::read_bytes(corpus / kRecord));
    for (const auto& file : record.at("files")) {
      const auto name = file.at("name").get<std::string>();
      if (tokenizer::sha256(training::read_bytes(corpus / name)) !=
          file.at("sha256").get<std::string>())
        throw damaged(name);
    }
    return record;
  } catch (const nlohmann::json::exception&) {
    throw damaged(kRecord);
  }
}

void check_mirror(const std::string& from) {
  if (from.empty() || from.starts_with("http://") || from.starts_with("https://")) return;
  if (from.find("://") != std::string::npos)
    throw records::UsageError("--from takes a folder or a URL of http or https, not " + from);
  if (!fs::is_directory(from)) throw records::UsageError("--from: there is no folder " + from);
}

bool is_there(const fs::path& corpus) {
  if (!fs::exists(fs::symlink_status(corpus))) return false;
  if (!fs::exists(corpus / kRecord))
    throw records::UsageError(
        fmt::format("'{}' is there and was not fetched, since it has no {}; name another folder",
                    corpus.string(), kRecord));
  return true;
}

}  // namespace

void fetch(const Fetch& request) {
  check_mirror(request.from);
  const auto corpus = request.to / request.recipe.name;
  if (is_there(corpus)) return show(request, verified_record(corpus));
  announce(request);
  const auto downloads = request.to / ".fetch";
  fs::create_directories(downloads);
  const training::FolderLock lock(
      downloads, [&] { request.notes << "waiting for another fetch into this folder\n"; });
  if (is_there(corpus)) return show(request, verified_record(corpus));
  const auto scratch = downloads / request.recipe.name;
  fs::remove_all(scratch);
  const auto sources = download_all(request, downloads);
  request.notes << "making the corpus\n" << std::flush;
  write(request.recipe, request.recipe.make(sources), scratch, corpus);
  for (const auto& source : request.recipe.sources) forget(source, downloads);
  show(request, verified_record(corpus));
}

}  // namespace ablate::corpora
