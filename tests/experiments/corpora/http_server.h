#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ablate::corpora {

/// What a client asked for.
struct Asked {
  std::string path;            // "/pool/a.deb"
  std::optional<size_t> from;  // where its range begins
};

/// Serves one connection after another on localhost, each with what `answer` gives: the raw bytes
/// of a response, after which the connection is closed, or held open where `hold` says so. With
/// `wait` the body goes byte by byte, each when it returns.
class HttpServer {
 public:
  struct Answer {
    std::string bytes;
    bool hold = false;  // until the client goes
    std::function<void()> wait = {};
  };

  explicit HttpServer(std::function<Answer(const Asked&)> answer)
      : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no server on localhost");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// All requests so far, in their order.
  std::vector<Asked> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void serve() {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      const auto request = parsed(head_of(client));
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(request);
      }
      const auto answer = answer_(request);
      const auto head = answer.wait ? answer.bytes.find("\r\n\r\n") + 4 : answer.bytes.size();
      ::send(client, answer.bytes.data(), head, MSG_NOSIGNAL);
      for (auto at = head; at < answer.bytes.size(); ++at) {
        answer.wait();
        ::send(client, &answer.bytes[at], 1, MSG_NOSIGNAL);
      }
      char byte = 0;
      if (answer.hold) ::recv(client, &byte, 1, 0);
    }
  }

  static std::string head_of(int client) {
    std::string head;
    char buffer[4096];
    while (head.find("\r\n\r\n") == std::string::npos) {
      const auto got = ::recv(client, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      head.append(buffer, static_cast<size_t>(got));
    }
    return head;
  }

  static Asked parsed(const std::string& head) {
    Asked asked;
    const auto begin = head.find(' ') + 1;
    asked.path = head.substr(begin, head.find(' ', begin) - begin);
    const std::string range = "Range: bytes=";
    if (const auto at = head.find(range); at != std::string::npos)
      asked.from = std::stoul(head.substr(at + range.size()));
    return asked;
  }

  std::function<Answer(const Asked&)> answer_;
  int listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<Asked> asked_;
  std::thread thread_;
};

/// A response with its length; the body may be another one than the length says.
inline std::string response(const std::string& status, const std::string& body,
                            std::optional<size_t> length = {}) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Length: " + std::to_string(length.value_or(body.size())) +
         "\r\nConnection: close\r\n\r\n" + body;
}

/// What a server answers that has one file and knows ranges.
inline std::string answer_of(const Asked& asked, const std::string& file) {
  if (!asked.from) return response("200 OK", file);
  if (*asked.from >= file.size()) return response("416 Range Not Satisfiable", "");
  return response("206 Partial Content", file.substr(*asked.from));
}

}  // namespace ablate::corpora
