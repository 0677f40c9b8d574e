#include "experiments/study/value.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "tokenizer/utf8.h"

namespace ablate::experiments {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20U;
constexpr size_t kMostLevels = 64;
constexpr size_t kMostValues = 20'000;

[[noreturn]] void refuse(const Place& place, const std::string& message) {
  Problems problems;
  problems.add(place, message);
  problems.check();
  throw std::logic_error("a problem was not reported");
}

/// Builds the tree from the parser's events, so that no alias is ever followed.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::shared_ptr<const SourceText> source) : source_(std::move(source)) {}

  Value take() { return std::move(root_); }
  bool seen() const { return values_ > 0; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse(place(mark), "a second document; a study is one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    add(made(Value::Kind::null, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(place(mark), "aliases (*name) are not supported; write the value again");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& text) override {
    check_tag(mark, tag);
    auto value = made(Value::Kind::scalar, mark);
    value.scalar = text;
    value.quoted = tag == "!";
    const bool plain_null = !value.quoted && (text == "~" || text == "null" || text.empty());
    if (plain_null) value.kind = Value::Kind::null;
    add(std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Value::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, Value::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Value value;
    std::optional<Entry> key;  // of a map, read and waiting for its value
  };

  Place place(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }
  Value made(Value::Kind kind, const YAML::Mark& mark) {
    if (++values_ > kMostValues) refuse(place(mark), "more than 20000 values");
    Value value;
    value.kind = kind;
    value.place = place(mark);
    return value;
  }
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(place(mark), fmt::format("tags ({}) are not supported", tag));
  }
  void open(const YAML::Mark& mark, const std::string& tag, Value::Kind kind) {
    check_tag(mark, tag);
    if (levels_.size() >= kMostLevels) refuse(place(mark), "nested deeper than 64 levels");
    levels_.push_back({made(kind, mark), {}});
  }
  void close() {
    auto value = std::move(levels_.back().value);
    levels_.pop_back();
    add(std::move(value));
  }
  void add(Value value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    auto& level = levels_.back();
    if (level.value.kind == Value::Kind::list)
      level.value.items.push_back(std::move(value));
    else if (level.key)
      add_entry(level, std::move(value));
    else
      add_key(level, value);
  }
  static void add_entry(Level& level, Value value) {
    level.key->value = std::move(value);
    level.value.entries.push_back(std::move(*level.key));
    level.key.reset();
  }
  static void add_key(Level& level, const Value& value) {
    if (value.kind != Value::Kind::scalar) refuse(value.place, "a key must be a word");
    for (const auto& entry : level.value.entries)
      if (entry.key == value.scalar)
        refuse(value.place, fmt::format("duplicate key '{}'; it stands in line {} already",
                                        value.scalar, entry.place.line));
    level.key = Entry{value.scalar, value.place, {}};
  }

  std::shared_ptr<const SourceText> source_;
  std::vector<Level> levels_;
  Value root_;
  size_t values_ = 0;
  int documents_ = 0;
};

std::shared_ptr<SourceText> split(const std::string& name, const std::string& text) {
  auto source = std::make_shared<SourceText>();
  source->name = name;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    source->lines.push_back(line);
  }
  return source;
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const auto& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Value* Value::find(std::string_view key) {
  for (auto& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Value read_document(const std::string& name, const std::string& given) {
  const std::string text = given.starts_with("\xef\xbb\xbf") ? given.substr(3) : given;
  if (text.size() > kMostBytes) refuse({split(name, "")}, "larger than 1 MiB");
  if (!tokenizer::valid_utf8(text) || text.find('\0') != std::string::npos)
    refuse({split(name, "")}, "not UTF-8 text");
  const auto source = split(name, text);
  Builder builder(source);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    refuse({source, std::max(error.mark.line, 0) + 1, std::max(error.mark.column, 0) + 1},
           "not valid YAML: " + error.msg);
  }
  if (!builder.seen()) refuse({source}, "the file is empty");
  return builder.take();
}

Value read_document(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code ignored;
  if (!stream || std::filesystem::is_directory(file, ignored))
    refuse({split(file.string(), "")}, "cannot be read; check the path");
  std::string text(kMostBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return read_document(file.string(), text);
}

}  // namespace ablate::experiments
