#pragma once

namespace ablate::training {

/// What RankProcesses tells the processes that it starts, besides RANK and WORLD_SIZE: the file in
/// which ranks find each other.
inline constexpr const char* kRankFile = "ABLATE_RANK_FILE";

}  // namespace ablate::training
