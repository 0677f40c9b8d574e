#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace ablate::training {

/// How matrix products are computed; weights are float numbers in any case.
enum class Precision { fp32, bf16, tf32 };

constexpr auto names(Precision) {
  return std::to_array<std::pair<Precision, std::string_view>>(
      {{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}, {Precision::tf32, "tf32"}});
}

enum class Device { automatic, cpu, cuda };

constexpr auto names(Device) {
  return std::to_array<std::pair<Device, std::string_view>>(
      {{Device::automatic, "auto"}, {Device::cpu, "cpu"}, {Device::cuda, "cuda"}});
}

}  // namespace ablate::training
