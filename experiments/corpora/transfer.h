#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

namespace ablate::corpora {

/// One file to be brought over HTTP.
struct Transfer {
  using Clock = std::chrono::steady_clock;

  std::string url;
  std::filesystem::path part;  // continued where it exists
  uint64_t bytes = 0;          // of the whole file
  int64_t patience = 60;       // seconds in which a server sends 1,000 bytes or is given up
  std::function<void(uint64_t)> progress = {};  // gets how many bytes `part` has
  std::function<Clock::time_point()> now = Clock::now;
};

/// A server answered with something that is not the file. `part` is gone.
struct NotTheFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Asks for what `part` lacks and appends it, or begins again where the server does not know
/// ranges. Afterwards `part` has the size wanted; nothing else is known of its bytes. Redirects are
/// followed, ten at most, to http and https alone. Throws NotTheFile where the size is another one,
/// IoError where the server, the network or the disk fails, and Interrupted where a stop is asked
/// for; after the last two `part` holds what has come, and the same call continues.
void bring(const Transfer& transfer);

}  // namespace ablate::corpora
