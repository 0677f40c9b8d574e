#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/training/folder_test_case.h"
#include "training/checkpoint/checkpoint.h"

namespace ablate::training {

/// A small checkpoint whose bytes all depend on `step`.
inline Checkpoint example(int64_t step) {
  const auto value = static_cast<float>(step);
  Checkpoint checkpoint{.step = step};
  checkpoint.model = {{"weight", torch::arange(12).reshape({3, 4}).to(torch::kFloat32) * value},
                      {"bias", torch::full({4}, value)}};
  checkpoint.optimizer = {{"weight.mean", torch::full({3, 4}, value / 3)},
                          {"steps", torch::tensor(step)}};
  checkpoint.state = {{"step", step}, {"loss", 1.0 / value}, {"worst", 3e-310}};
  checkpoint.files = {{"config.yaml", "name: x\nseed: " + std::to_string(step) + "\n"},
                      {"source.model", std::string("\0\xff\n", 3) + std::to_string(step)}};
  return checkpoint;
}

inline void expect_same(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
}

inline void expect_same(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.step, b.step);
  expect_same(a.model, b.model);
  expect_same(a.optimizer, b.optimizer);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.files, b.files);
}

/// What lies in the folder, but for its lock.
inline std::set<std::string> names(const std::filesystem::path& folder) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename() != ".lock") found.insert(entry.path().filename().string());
  return found;
}

inline void overwrite(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// A test with a folder of checkpoints.
class CheckpointFolder : public FolderTestCase {
 protected:
  std::filesystem::path at(int64_t step) const {
    return folder() / ("step-0000000" + std::to_string(step));
  }
  std::optional<Checkpoint> newest() {
    return load_newest(folder(), [&](const std::string& text) { warnings_.push_back(text); });
  }
  std::vector<std::string> warnings_;
};

}  // namespace ablate::training
