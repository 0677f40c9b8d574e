#include "experiments/corpora/text/package_index.h"

#include <unordered_set>

#include "experiments/corpora/text/text.h"

namespace ablate::corpora {
namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  return parts;
}

/// The first line of a field, whose name ends at the first colon.
struct Field {
  std::string_view name, value;
};

Field field_of(std::string_view line) {
  const auto colon = line.find(": ");
  if (line.starts_with(' ') || colon == std::string_view::npos) return {};
  return {line.substr(0, colon), line.substr(colon + 2)};
}

/// Whether a line without its first space is an item of a list: indented, a mark and a space.
bool is_item(std::string_view line) {
  const auto mark = line.find_first_not_of(' ');
  return mark != 0 && mark != std::string_view::npos && mark + 1 < line.size() &&
         std::string_view("-*+o").find(line[mark]) != std::string_view::npos &&
         line[mark + 1] == ' ';
}

/// Gathers the lines of a description into paragraphs.
class Paragraphs {
 public:
  void add(std::string_view line) {
    if (normalized(line) == ".") return flush();
    if (is_item(line)) {
      flush();
      line.remove_prefix(line.find_first_not_of(' ') + 2);
    }
    text_ += std::string(text_.empty() ? "" : " ") + std::string(line);
  }
  std::vector<std::string> take() {
    flush();
    return std::move(found_);
  }

 private:
  void flush() {
    if (auto text = normalized(text_); !text.empty()) found_.push_back(std::move(text));
    text_.clear();
  }

  std::string text_;
  std::vector<std::string> found_;
};

Description description_in(std::string_view block) {
  Description description;
  Paragraphs paragraphs;
  bool described = false;
  for (const auto line : split(block, "\n")) {
    const auto [name, value] = field_of(line);
    if (described && line.starts_with(' ')) paragraphs.add(line.substr(1));
    if (name.empty()) continue;
    described = name.starts_with("Description-") && name != "Description-md5";
    if (name == "Package") description.package = value;
    if (name == "Description-md5") description.digest = value;
    if (described) description.title = normalized(value);
  }
  description.paragraphs = paragraphs.take();
  return description;
}

}  // namespace

std::vector<Description> descriptions_in(std::string_view index) {
  std::vector<Description> found;
  std::unordered_set<std::string> digests;
  for (const auto block : split(index, "\n\n"))
    if (auto description = description_in(block);
        !description.title.empty() && digests.insert(description.digest).second)
      found.push_back(std::move(description));
  return found;
}

std::map<std::string, PackageEntry> packages_in(std::string_view index) {
  std::map<std::string, PackageEntry> packages;
  for (const auto block : split(index, "\n\n")) {
    std::string package;
    PackageEntry entry;
    for (const auto line : split(block, "\n")) {
      const auto [name, value] = field_of(line);
      if (name == "Package") package = value;
      if (name == "Source") entry.source = value.substr(0, value.find(' '));
      if (name == "Section") entry.section = value;
    }
    if (entry.source.empty()) entry.source = package;
    if (!package.empty()) packages[package] = entry;
  }
  return packages;
}

}  // namespace ablate::corpora
