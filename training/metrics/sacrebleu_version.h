#pragma once

#include <string_view>

namespace ablate::training {

/// The sacreBLEU whose scores these agree with; tests/training/golden/sacrebleu_golden.py uses it.
inline constexpr std::string_view kSacrebleuVersion = "2.6.0";

}  // namespace ablate::training
