#include "data/named_files.h"

#include <optional>
#include <type_traits>
#include <variant>

#include "data/corpus.h"
#include "data/read_corpus.h"

namespace ablate::data {
namespace {

using std::filesystem::path;

std::vector<std::string> names_in(const std::string& name) {
  return name.empty() ? std::vector<std::string>() : std::vector{name};
}
std::vector<std::string> names_in(const std::optional<std::string>& name) {
  return names_in(name.value_or(""));
}
const std::vector<std::string>& names_in(const std::vector<std::string>& names) { return names; }

/// The message of the DataError that check(file) throws; empty if it throws none.
template <class Check>
std::string fault_found(const path& file, Check&& check) {
  std::error_code unreadable;
  const auto kind = std::filesystem::status(file, unreadable).type();
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::directory)
    return {};
  try {
    check(file);
  } catch (const DataError& error) {
    return error.what();
  }
  return {};
}

template <class Data>
std::vector<NamedFile> files_in(const Data& options, const path& folder) {
  std::vector<NamedFile> all;
  const auto add = [&](const char* key, const std::vector<std::string>& names) {
    const auto check = [&](const path& file) {
      if constexpr (std::is_same_v<Data, Text>)
        check_beginning(options, file, names.size() == 1);
      else
        check_beginning(options, file);
    };
    for (const auto& name : names) all.push_back({key, name, fault_found(folder / name, check)});
  };
  add("train", names_in(options.train));
  add("validation", names_in(options.validation));
  add("test", names_in(options.test));
  return all;
}

}  // namespace

std::vector<NamedFile> named_files(const DataOptions& options, const path& folder) {
  const auto files = [&]<class Data>(const Data& data) -> std::vector<NamedFile> {
    if constexpr (requires { names_in(data.train); })
      return files_in(data, folder);
    else
      return {};
  };
  return std::visit(files, options);
}

}  // namespace ablate::data
