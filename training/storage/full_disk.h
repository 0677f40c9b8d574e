#pragma once

namespace ablate::training {

/// What the message of an IoError says where there was no room on the disk.
inline constexpr const char* kFreeSpace = "free some space and run the same command again";

}  // namespace ablate::training
