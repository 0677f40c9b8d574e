#include "training/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ranges>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "tokenizer/text/digest.h"
#include "training/checkpoint/format/manifest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kState = "state.json";

std::string folder_name(int64_t step) { return fmt::format("step-{:08}", step); }

/// The step in the name of a checkpoint's folder; nullopt for any other name.
std::optional<int64_t> step_of(const std::string& name) {
  int64_t step = 0;
  if (std::sscanf(name.c_str(), "step-%18ld", &step) != 1 || name != folder_name(step)) return {};
  return step;
}

void remove_folder(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw io_error("remove", path, error.value());
}

/// A new folder that is to get the name `final`, and is gone at the end unless it was renamed.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& final) : path_(temporary_beside(final)) {
    create_folder(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void rename_folder(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) throw io_error("create", to, errno);
}

/// Replaces a folder on a file system that cannot exchange two, such as NFS. A kill between the
/// renames loses only the checkpoint being replaced.
void replace_in_two_steps(const fs::path& temporary, const fs::path& final) {
  const TemporaryFolder old(final);
  rename_folder(final, old.path());
  try {
    rename_folder(temporary, final);
  } catch (...) {
    std::rename(old.path().c_str(), final.c_str());
    throw;
  }
}

/// Gives the written folder its name. If the name is taken, the two are exchanged atomically, so
/// that one of them always exists; the old one then has the temporary name.
void publish(const fs::path& temporary, const fs::path& final) {
  if (!fs::exists(fs::symlink_status(final))) return rename_folder(temporary, final);
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final.c_str(), RENAME_EXCHANGE) == 0)
    return;
  if (errno != EINVAL && errno != ENOSYS) throw io_error("replace", final, errno);
  replace_in_two_steps(temporary, final);
}

void write_listed(const fs::path& folder, const std::string& name, const std::string& bytes,
                  Manifest& manifest) {
  manifest.files[name] = {bytes.size(), tokenizer::sha256(bytes)};
  write_synced(folder / name, bytes);
}

void write_contents(const fs::path& folder, const Checkpoint& checkpoint) {
  Manifest manifest{.step = checkpoint.step};
  write_listed(folder, kModel, to_safetensors(checkpoint.model), manifest);
  write_listed(folder, kOptimizer, to_safetensors(checkpoint.optimizer), manifest);
  write_listed(folder, kState, without_non_finite(checkpoint.state).dump(1) + '\n', manifest);
  for (const auto& [name, bytes] : checkpoint.files) write_listed(folder, name, bytes, manifest);
  write_synced(folder / kManifest, to_json(manifest));
  sync_folder(folder);
}

bool own_file(const std::string& name) {
  return name == kManifest || name == kModel || name == kOptimizer || name == kState;
}

/// Removes leftovers of killed processes. REQUIRES: the folder's lock, which every save holds, so
/// that no leftover is still being written.
void remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with(kTemporary))
      leftovers.push_back(entry->path());
  for (const auto& path : leftovers) remove_folder(path);
}

/// The checkpoints of `found`, newest last, to be removed.
std::vector<Found> not_kept(std::vector<Found> found, const KeptCheckpoints& kept) {
  auto steps = kept.steps;
  steps.insert(found.back().step);
  int64_t counted = 0;
  for (const auto& one : found | std::views::reverse)
    if (one.step % kept.every == 0 && counted++ < kept.newest) steps.insert(one.step);
  std::erase_if(found, [&](const Found& one) { return steps.contains(one.step); });
  return found;
}

/// Reads every file of the checkpoint without keeping it.
void verify(const fs::path& folder) {
  const auto manifest = read_manifest(folder);
  for (const auto& [name, file] : manifest.files) read_listed(folder, manifest, name);
}

}  // namespace

void save_checkpoint(const fs::path& folder, const Checkpoint& checkpoint) {
  for (const auto& [name, bytes] : checkpoint.files)
    if (own_file(name) || !valid_file_name(name))
      throw std::invalid_argument(fmt::format("a checkpoint cannot carry a file '{}'", name));
  if (checkpoint.step < 0) throw std::invalid_argument("a checkpoint's step is negative");
  create_folder(folder);
  const FolderLock lock(folder);
  const auto final = folder / folder_name(checkpoint.step);
  const TemporaryFolder temporary(final);
  write_contents(temporary.path(), checkpoint);
  publish(temporary.path(), final);
  sync_folder(folder);
}

Checkpoint load_checkpoint(const fs::path& step_folder) {
  const auto manifest = read_manifest(step_folder);
  const auto name = fs::absolute(step_folder).lexically_normal();
  const auto last = name.has_filename() ? name.filename() : name.parent_path().filename();
  if (const auto step = step_of(last.string()); step && *step != manifest.step)
    throw CheckpointError(
        fmt::format("'{}' is that of step {}", (step_folder / kManifest).string(), manifest.step));
  Checkpoint checkpoint{.step = manifest.step};
  checkpoint.model =
      from_safetensors(read_listed(step_folder, manifest, kModel), (step_folder / kModel).string());
  checkpoint.optimizer = from_safetensors(read_listed(step_folder, manifest, kOptimizer),
                                          (step_folder / kOptimizer).string());
  const auto state = parse_json(read_listed(step_folder, manifest, kState));
  if (state.is_discarded())
    throw CheckpointError(fmt::format("'{}' is not JSON", (step_folder / kState).string()));
  checkpoint.state = with_non_finite(state);
  for (const auto& [file, listed] : manifest.files)
    if (!own_file(file)) checkpoint.files[file] = read_listed(step_folder, manifest, file);
  return checkpoint;
}

std::vector<Found> list_checkpoints(const fs::path& folder) {
  std::vector<Found> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (const auto step = step_of(entry->path().filename().string()); step && entry->is_directory())
      found.push_back({entry->path(), *step});
  if (error && error != std::errc::no_such_file_or_directory)
    throw io_error("read", folder, error.value());
  std::ranges::sort(found, {}, &Found::step);
  return found;
}

std::optional<Checkpoint> load_newest(const fs::path& folder,
                                      const std::function<void(const std::string&)>& warn) {
  auto found = list_checkpoints(folder);
  if (found.empty()) return {};
  std::string reason;
  for (; !found.empty(); found.pop_back()) {
    try {
      return load_checkpoint(found.back().path);
    } catch (const CheckpointError& error) {
      reason = error.what();
    } catch (const IoError& error) {
      reason = error.what();
    }
    warn(fmt::format("checkpoint of step {} is not used: {}", found.back().step, reason));
  }
  throw CheckpointError(fmt::format(
      "no checkpoint in '{}' can be used ({}); remove the folder to start again from step 0",
      folder.string(), reason));
}

void prune_checkpoints(const fs::path& folder, const KeptCheckpoints& kept) {
  if (!fs::exists(folder)) return;
  const FolderLock lock(folder);
  remove_leftovers(folder);
  auto found = list_checkpoints(folder);
  std::erase_if(found, [&](const Found& one) { return one.step > kept.last; });
  if (found.empty()) return;
  const auto newest = found.back();
  const auto superfluous = not_kept(std::move(found), kept);
  if (!superfluous.empty()) verify(newest.path);
  for (const auto& one : superfluous) {
    // Under the temporary name first: a checkpoint that is half removed must not look like one.
    const auto doomed = temporary_beside(one.path);
    if (std::rename(one.path.c_str(), doomed.c_str()) != 0)
      throw io_error("remove", one.path, errno);
    remove_folder(doomed);
  }
}

}  // namespace ablate::training
