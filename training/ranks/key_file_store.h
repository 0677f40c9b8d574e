#pragma once

#include <torch/headeronly/version.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>
#include <vector>

namespace ablate::training {

/// The store by which the ranks of one machine find each other: a file for each key, which appears
/// atomically. c10d's FileStore keeps all keys in one file, and waits forever for the rest of a
/// record whose writer has ended.
class KeyFileStore final : public c10d::Store {
 public:
  /// Files are named `prefix`, a dot and the key.
  explicit KeyFileStore(std::filesystem::path prefix) : prefix_(std::move(prefix)) {}

  c10::intrusive_ptr<c10d::Store> clone() override;
  /// Throws IoError.
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  /// Waits for the key. Throws IoError and the exceptions of wait().
  std::vector<uint8_t> get(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  /// Throws std::runtime_error if the keys do not appear in time.
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  bool deleteKey(const std::string& key) override;
  /// Adds to a number in decimal digits, 0 at first, and returns the sum. Throws IoError.
  int64_t add(const std::string& key, int64_t value) override;
  int64_t getNumKeys() override;

#if TORCH_VERSION_MINOR >= 13
  // Throws: neither Gloo nor NCCL uses it. An inherited one would be missed at the start with an
  // older LibTorch, before the program could say so.
  void barrier(const std::string& key, int64_t world_size,
               const std::chrono::milliseconds& timeout) override;
#endif

 private:
  std::filesystem::path file_of(std::string key) const;

  std::filesystem::path prefix_;
};

}  // namespace ablate::training
