#include "experiments/cli/checked_output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string_view>

#include "training/storage/io_error.h"

namespace ablate::cli {
namespace {

/// Writes all of `text`, waiting where another program made the output non-blocking.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wanted{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      poll(&wanted, 1, -1);
    } else if (errno == EPIPE) {
      throw OutputClosed();
    } else if (errno != EINTR) {
      throw training::io_error("write", "standard output", errno);
    }
  }
}

}  // namespace

CheckedOutput::CheckedOutput() : before_(std::cout.rdbuf(this)) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  std::cout.exceptions(std::ios::badbit);
  if (isatty(STDOUT_FILENO) != 0) std::cout << std::unitbuf;
}

CheckedOutput::~CheckedOutput() {
  std::cout.exceptions(std::ios::goodbit);
  std::cout.flush();
  std::cout.rdbuf(before_);
}

CheckedOutput::int_type CheckedOutput::overflow(int_type character) {
  sync();
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  return sputc(traits_type::to_char_type(character));
}

int CheckedOutput::sync() {
  const std::string_view text(pbase(), static_cast<size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  write_all(text);
  return 0;
}

}  // namespace ablate::cli
