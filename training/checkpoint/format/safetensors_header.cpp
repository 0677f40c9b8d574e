#include "training/checkpoint/format/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "training/storage/errors.h"

namespace ablate::training {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

using Json = nlohmann::json;

/// Throws the error of a damaged file.
struct Complaint {
  const std::string& source;
  [[noreturn]] void operator()(const std::string& what) const {
    throw CheckpointError(fmt::format("'{}' is not a sound safetensors file: {}", source, what));
  }
};

/// Text of unknown origin in quotes, without control characters.
std::string printable(const std::string& text) { return Json(text).dump(-1, ' ', true); }

/// Rejects JSON that the parser accepts: equal keys, of which the parser keeps the last, and any
/// depth.
class StrictWalk : public nlohmann::json_sax<Json> {
 public:
  explicit StrictWalk(const Complaint& complain) : complain_(complain) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second)
      complain_(fmt::format("its header has the key {} twice", printable(name)));
    return true;
  }
  bool parse_error(size_t, const std::string&, const Json::exception& error) override {
    complain_(fmt::format("its header is not JSON ({})", error.what()));
  }

 private:
  bool enter() {
    keys_.emplace_back();
    if (keys_.size() > 3) complain_("its header is nested too deeply");
    return true;
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }

  const Complaint& complain_;
  std::vector<std::set<std::string>> keys_;  // of every object and list that is open
};

Json parse_strictly(std::string_view header, const Complaint& complain) {
  StrictWalk walk(complain);
  Json::sax_parse(header, &walk);
  return Json::parse(header);
}

std::vector<size_t> sizes(const Json& list, const std::string& what, const Complaint& complain) {
  std::vector<size_t> values;
  if (!list.is_array()) complain(what + " is not a list");
  for (const auto& value : list) {
    if (!value.is_number_unsigned() ||
        value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      complain(fmt::format("{} has {}, which is no size", what, value.dump()));
    values.push_back(value.get<size_t>());
  }
  return values;
}

ElementType element_type(const Json& name, const std::string& tensor, const Complaint& complain) {
  for (const auto& type : kElementTypes)
    if (name == type.name) return type;
  complain(fmt::format("'{}' has the unknown type {}", tensor, name.dump()));
}

/// Bytes of a tensor, with zero sizes counted as one so that strides cannot overflow either.
size_t bytes_of(const TensorEntry& entry, const Complaint& complain) {
  auto bytes = static_cast<int64_t>(entry.type.bytes);
  bool empty = false;
  for (const int64_t size : entry.shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes))
      complain(fmt::format("'{}' is too large", entry.name));
  }
  return empty ? 0 : static_cast<size_t>(bytes);
}

TensorEntry read_entry(const std::string& name, const Json& fields, const Complaint& complain) {
  if (!valid_tensor_name(name)) complain(printable(name) + " is no name for a tensor");
  if (!fields.is_object() || fields.size() != 3 || !fields.contains("dtype") ||
      !fields.contains("shape") || !fields.contains("data_offsets"))
    complain(fmt::format("'{}' needs exactly dtype, shape and data_offsets", name));
  TensorEntry entry{.name = name, .type = element_type(fields["dtype"], name, complain)};
  for (const auto size : sizes(fields["shape"], fmt::format("the shape of '{}'", name), complain))
    entry.shape.push_back(static_cast<int64_t>(size));
  if (entry.shape.size() > kMaximumDimensions)
    complain(fmt::format("'{}' has more than {} dimensions", name, kMaximumDimensions));
  const auto offsets =
      sizes(fields["data_offsets"], fmt::format("data_offsets of '{}'", name), complain);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    complain(fmt::format("data_offsets of '{}' is not [begin, end]", name));
  entry.begin = offsets[0];
  entry.end = offsets[1];
  if (const auto bytes = bytes_of(entry, complain); bytes != entry.end - entry.begin)
    complain(fmt::format("'{}' has the shape of {} bytes and data of {}", name, bytes,
                         entry.end - entry.begin));
  return entry;
}

void check_metadata(const Json& metadata, const Complaint& complain) {
  if (!metadata.is_object() ||
      !std::ranges::all_of(metadata, [](const Json& value) { return value.is_string(); }))
    complain("__metadata__ does not map names to strings");
}

void check_places(const std::vector<TensorEntry>& entries, size_t data_bytes,
                  const Complaint& complain) {
  size_t end = 0;
  for (const auto& entry : entries) {
    if (entry.begin != end)
      complain(fmt::format("'{}' begins at byte {} instead of {}", entry.name, entry.begin, end));
    end = entry.end;
  }
  if (end != data_bytes)
    complain(fmt::format("its header describes {} bytes of data and it has {}", end, data_bytes));
}

std::vector<TensorEntry> parse_header(std::string_view header, size_t data_bytes,
                                      const Complaint& complain) {
  if (!header.starts_with('{')) complain("its header is not a JSON object");
  const auto json = parse_strictly(header, complain);
  if (json.size() > kMaximumTensors + 1)
    complain(fmt::format("it has more than {} tensors", kMaximumTensors));
  std::vector<TensorEntry> entries;
  for (const auto& [name, fields] : json.items()) {
    if (name == "__metadata__")
      check_metadata(fields, complain);
    else
      entries.push_back(read_entry(name, fields, complain));
  }
  std::ranges::sort(entries, [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  check_places(entries, data_bytes, complain);
  return entries;
}

}  // namespace

bool valid_tensor_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaximumNameBytes && name != "__metadata__" &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

SafetensorsLayout parse_safetensors(std::string_view bytes, const std::string& source) {
  const Complaint complain{source};
  uint64_t header_bytes = 0;
  if (bytes.size() >= sizeof header_bytes)
    std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
  if (bytes.size() < sizeof header_bytes || header_bytes > bytes.size() - sizeof header_bytes ||
      header_bytes > kMaximumHeaderBytes)
    complain(fmt::format("{} bytes with a header of {}, of which at most {} are allowed",
                         bytes.size(), header_bytes, kMaximumHeaderBytes));
  const auto header = bytes.substr(sizeof header_bytes, header_bytes);
  const auto data = bytes.substr(sizeof header_bytes + header_bytes);
  return {parse_header(header, data.size(), complain), data};
}

}  // namespace ablate::training
