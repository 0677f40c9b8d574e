#include "experiments/corpora/transfer.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <optional>
#include <string_view>

#include "experiments/corpora/shared_library.h"
#include "training/process/interrupt.h"
#include "training/storage/io_error.h"

namespace ablate::corpora {
namespace {

constexpr long kRedirects = 10;
constexpr long kRangeNotSatisfiable = 416;
constexpr uint64_t kFewestBytes = 1000;  // that come within the patience, unless it is the end

/// The functions of libcurl that are used.
struct Curl {
  decltype(&curl_easy_init) init;
  decltype(&curl_easy_cleanup) cleanup;
  decltype(&curl_easy_setopt) set;
  decltype(&curl_easy_getinfo) info;
  decltype(&curl_easy_perform) perform;
  decltype(&curl_easy_strerror) reason;

  Curl() {
    const SharedLibrary library(ABLATE_LIBCURL, "libcurl4");
    library.bind(init, "curl_easy_init");
    library.bind(cleanup, "curl_easy_cleanup");
    library.bind(set, "curl_easy_setopt");
    library.bind(info, "curl_easy_getinfo");
    library.bind(perform, "curl_easy_perform");
    library.bind(reason, "curl_easy_strerror");
  }
};

const Curl& curl() {
  static const Curl kCurl;
  return kCurl;
}

/// A file that is appended to. Throws IoError.
class PartFile {
 public:
  explicit PartFile(std::filesystem::path path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw training::io_error("create", path_, errno);
    const auto end = ::lseek(descriptor_, 0, SEEK_END);
    bytes_ = end < 0 ? 0 : static_cast<uint64_t>(end);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() { ::close(descriptor_); }

  void append(std::string_view text) {
    while (!text.empty()) {
      const auto written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw training::io_error("write", path_, written < 0 ? errno : EIO);
      bytes_ += static_cast<uint64_t>(written);
      text.remove_prefix(static_cast<size_t>(written));
    }
  }

  void clear() {
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0)
      throw training::io_error("write", path_, errno);
    bytes_ = 0;
  }

  uint64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  int descriptor_;
  uint64_t bytes_ = 0;
};

/// A web page, as a server sends it for an error, or a network that wants one to log in.
bool is_page(std::string_view beginning) {
  const auto first = beginning.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) return false;
  const auto tag = beginning.substr(first, 9);
  return tag == "<!DOCTYPE" || tag == "<!doctype" || tag.starts_with("<html") ||
         tag.starts_with("<HTML");
}

/// One request and what has come of it.
class Request {
 public:
  explicit Request(const Transfer& transfer)
      : transfer_(transfer), file_(transfer.part), handle_(curl().init()) {
    if (handle_ == nullptr) throw training::IoError("libcurl cannot be started");
    resumed_ = file_.bytes() > 0;
    count();
    set_up();
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() { curl().cleanup(handle_); }

  void perform() {
    result_ = curl().perform(handle_);
    if (first_ && announced() == 0 && result_ == CURLE_OK) start({});
    if (failure_) std::rethrow_exception(failure_);
    if (training::stop_requested())
      throw training::Interrupted("stopped; the same command continues the download");
  }

  bool asks_beyond_the_end() const { return resumed_ && status() == kRangeNotSatisfiable; }

  /// Throws NotTheFile or IoError unless all has come.
  void check() const {
    if (result_ == CURLE_HTTP_RETURNED_ERROR)
      throw training::IoError(fmt::format("the server answers {}", status()));
    if (page_)
      throw NotTheFile("is a web page, as servers send for errors and networks for logging in");
    if (other_size_)
      throw NotTheFile(fmt::format("has another size than {} bytes", transfer_.bytes));
    if (stalled_)
      throw training::IoError(fmt::format("the server sent fewer than {} bytes in {} seconds{}",
                                          kFewestBytes, transfer_.patience, so_far()));
    if (result_ != CURLE_OK) throw training::IoError(curl().reason(result_) + so_far());
    if (file_.bytes() != transfer_.bytes)
      throw training::IoError("the server ended it too early" + so_far());
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    curl().set(handle_, option, value);
  }

  void set_up() {
    set(CURLOPT_URL, transfer_.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, kRedirects);
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, "ablate");
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(transfer_.patience));
    set(CURLOPT_WRITEFUNCTION, &Request::take);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Request::look_around);
    set(CURLOPT_XFERINFODATA, this);
    if (!resumed_) return;
    range_ = fmt::format("{}-", file_.bytes());
    set(CURLOPT_RANGE, range_.c_str());
  }

  static size_t take(char* bytes, size_t, size_t count, void* self) {
    return static_cast<Request*>(self)->took({bytes, count}) ? count : 0;
  }

  /// libcurl calls it every second at least. Other than 0 ends the transfer.
  static int look_around(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& request = *static_cast<Request*>(self);
    request.stalled_ =
        request.transfer_.now() - request.last_ > std::chrono::seconds(request.transfer_.patience);
    return training::stop_requested() || request.stalled_ ? 1 : 0;
  }

  /// Whether to go on. C code calls it, which no exception may cross.
  bool took(std::string_view bytes) {
    try {
      if (first_) start(bytes);
      other_size_ |= file_.bytes() + bytes.size() > transfer_.bytes;
      if (page_ || other_size_) return false;
      file_.append(bytes);
      if (file_.bytes() - counted_ >= kFewestBytes) count();
      if (transfer_.progress) transfer_.progress(file_.bytes());
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  void start(std::string_view bytes) {
    first_ = false;
    if (resumed_ && status() != 206) file_.clear();
    count();
    page_ = file_.bytes() == 0 && is_page(bytes);
    other_size_ = announced() && file_.bytes() + *announced() != transfer_.bytes;
  }

  /// Begins to wait anew.
  void count() {
    last_ = transfer_.now();
    counted_ = file_.bytes();
  }

  long status() const {
    long code = 0;
    curl().info(handle_, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }

  /// Bytes of this answer, where the server said how many.
  std::optional<uint64_t> announced() const {
    curl_off_t bytes = -1;
    curl().info(handle_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &bytes);
    return bytes < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(bytes));
  }

  std::string so_far() const {
    return fmt::format(" after {} of {} bytes; the same command continues there", file_.bytes(),
                       transfer_.bytes);
  }

  const Transfer& transfer_;
  PartFile file_;
  CURL* handle_;
  std::string range_;
  bool resumed_ = false;
  bool first_ = true;                 // no byte has come
  Transfer::Clock::time_point last_;  // when the patience began, with so many bytes
  uint64_t counted_ = 0;
  bool page_ = false, other_size_ = false, stalled_ = false;
  CURLcode result_ = CURLE_OK;
  std::exception_ptr failure_;
};

/// Whether `part` was continued from a place that the file does not have.
bool asked_beyond_the_end(const Transfer& transfer) {
  Request request(transfer);
  request.perform();
  if (request.asks_beyond_the_end()) return true;
  request.check();
  return false;
}

}  // namespace

void bring(const Transfer& transfer) {
  try {
    if (!asked_beyond_the_end(transfer)) return;
    std::filesystem::remove(transfer.part);
    asked_beyond_the_end(transfer);
  } catch (const NotTheFile&) {
    std::filesystem::remove(transfer.part);
    throw;
  }
}

}  // namespace ablate::corpora
