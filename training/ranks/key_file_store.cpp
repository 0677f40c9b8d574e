#include "training/ranks/key_file_store.h"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

constexpr std::chrono::milliseconds kLookEvery{10};

}  // namespace

std::filesystem::path KeyFileStore::file_of(std::string key) const {
  std::replace(key.begin(), key.end(), '/', '%');
  auto file = prefix_;
  return file += "." + key;
}

c10::intrusive_ptr<c10d::Store> KeyFileStore::clone() {
  return c10::make_intrusive<KeyFileStore>(*this);
}

void KeyFileStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  write_durably(file_of(key), std::string(value.begin(), value.end()));
}

std::vector<uint8_t> KeyFileStore::get(const std::string& key) {
  wait({key});
  const auto bytes = read_bytes(file_of(key));
  return {bytes.begin(), bytes.end()};
}

bool KeyFileStore::check(const std::vector<std::string>& keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [this](const auto& key) { return std::filesystem::exists(file_of(key)); });
}

void KeyFileStore::wait(const std::vector<std::string>& keys,
                        const std::chrono::milliseconds& timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!check(keys)) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("another rank did not come in time");
    std::this_thread::sleep_for(kLookEvery);
  }
}

bool KeyFileStore::deleteKey(const std::string& key) {
  return std::filesystem::remove(file_of(key));
}

int64_t KeyFileStore::add(const std::string& key, int64_t value) {
  const auto folder = file_of(".lock");
  std::filesystem::create_directory(folder);
  const FolderLock alone(folder);
  const auto digits = check({key}) ? read_bytes(file_of(key)) : "0";
  const int64_t sum = std::stoll(digits) + value;
  write_durably(file_of(key), std::to_string(sum));
  return sum;
}

#if TORCH_VERSION_MINOR >= 13
void KeyFileStore::barrier(const std::string& key, int64_t, const std::chrono::milliseconds&) {
  throw std::logic_error("nobody waits for all at " + key);
}
#endif

int64_t KeyFileStore::getNumKeys() {
  const auto begin = file_of("").filename().string();
  return std::ranges::count_if(
      std::filesystem::directory_iterator(prefix_.parent_path()), [&](const auto& entry) {
        return entry.is_regular_file() && entry.path().filename().string().starts_with(begin);
      });
}

}  // namespace ablate::training
