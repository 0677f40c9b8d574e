#pragma once

#include <array>
#include <stdexcept>
#include <streambuf>

namespace ablate::cli {

/// No one reads standard output any more, as where a pipe leads into `head`.
struct OutputClosed : std::runtime_error {
  OutputClosed() : std::runtime_error("standard output is closed") {}
};

/// While one exists, std::cout says at once where its text cannot be written: it throws
/// OutputClosed, or IoError with the system's reason, and drops that text. Terminals see every
/// output as it is made.
class CheckedOutput : private std::streambuf {
 public:
  CheckedOutput();
  ~CheckedOutput() override;
  CheckedOutput(const CheckedOutput&) = delete;
  CheckedOutput& operator=(const CheckedOutput&) = delete;

 private:
  int_type overflow(int_type character) override;
  int sync() override;

  std::array<char, 65'536> buffer_;
  std::streambuf* before_;
};

}  // namespace ablate::cli
