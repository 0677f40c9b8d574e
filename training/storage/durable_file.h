#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "training/storage/io_error.h"

namespace ablate::training {

/// What temporary names begin with.
inline constexpr std::string_view kTemporary = ".tmp-";

/// A hidden name beside `path` for what will be renamed to it. It begins with kTemporary and the
/// host's name, and is drawn at random, so that no two processes choose the same one, whichever
/// machine, container or namespace they run in.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Removes the temporary files in `folder` whose write_durably() a process of this host began and
/// did not live to finish. Those of other hosts, and those that are being written, stay.
void remove_leftover_files(const std::filesystem::path& folder);

/// Replaces the file at `path` so that after a crash it holds either its old bytes or `bytes`:
/// written under a temporary name beside it, synced, renamed, the folder synced. Throws IoError and
/// leaves neither a temporary file nor a changed `path`.
void write_durably(const std::filesystem::path& path, std::string_view bytes);

/// Creates `path` with `bytes` and syncs it, without the rename: for files in a folder that is
/// itself renamed. Throws IoError, also where `path` exists.
void write_synced(const std::filesystem::path& path, std::string_view bytes);

/// open(2), again where a signal interrupts it; -1 with errno where it fails. Programs that are
/// started do not inherit the file.
int open_file(const std::filesystem::path& path, int flags);

/// Writes all bytes to the file at `path` that is open as `file` and syncs it, whatever signals
/// come. Throws IoError.
void write_and_sync(int file, const std::filesystem::path& path, std::string_view bytes);

/// Makes the names in `folder` survive a crash. Throws IoError.
void sync_folder(const std::filesystem::path& folder);

/// All bytes of the file. Throws IoError.
std::string read_bytes(const std::filesystem::path& path);

}  // namespace ablate::training
