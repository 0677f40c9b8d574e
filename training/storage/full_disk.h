#pragma once

namespace ablate::training {

/// The remedy in the message of an IoError if the disk is full.
inline constexpr const char* kFreeSpace = "free some space and run the same command again";

}  // namespace ablate::training
