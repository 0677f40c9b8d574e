#include "experiments/exchange/format/name_map.h"

#include <string_view>

#include "experiments/config/schema/describe.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/yaml/document.h"
#include "tokenizer/text/unicode.h"

namespace ablate::exchange {
namespace {

using config::Value;

/// The keys of an entry that is more than a name.
struct OriginOptions {
  Origin origin;
  Value name, alternative;

  static void fields(auto& o, auto&& visit) {
    visit("name", o.name, "of one tensor, or of several in a list");
    visit("or", o.alternative, "the same, if the file does not have the first of them");
    visit("untied", o.origin.untied, "of one tensor, if the output is no embedding");
    visit("transpose", o.origin.transpose, "whether it is to be transposed");
    visit("by_head", o.origin.by_head, "query, key and value of each head stand beside each other");
    visit("vocabulary", o.origin.vocabulary, "it has a row for every token");
    visit("unsqueeze", o.origin.unsqueeze, "it has a dimension more, of size 1, in front");
    visit("always", o.origin.always, "zeros in the file if ours is absent");
    visit("skip", o.origin.skip, "rows at its beginning that are left out");
  }
};

/// The keys of an entry of `fields` that is more than a key of ours.
struct FieldOptions {
  ForeignField field;
  Value key, usual, words;

  static void fields(auto& o, auto&& visit) {
    visit("key", o.key, "below model, or several in a list, of which the first is written");
    visit("usual", o.usual, "the keys' value in a file without it; absent: no file lacks it");
    visit("words", o.words, "true and false there: our word");
    visit("size", o.field.size, "the integer is the size of a tensor");
    visit("again", o.field.again, "it may say once more what another field says");
    visit("write", o.field.write, "it is written");
  }
};

/// The keys of a family's map.
struct FamilyOptions {
  FamilyMap map;
  Value tensors, unused, named, fixed, written, dropouts;

  static void fields(auto& o, auto&& visit) {
    visit("like", o.map.like, "the family whose map says what this one does not");
    visit("architecture", o.map.architecture, "of what is written; absent: it is only read");
    visit("prefix", o.map.prefix, "of the tensors of a model with a head");
    visit("model", o.map.model, "what the family fixes, as a study writes it");
    visit("tensors", o.tensors, "own name: foreign name");
    visit("unused", o.unused, "tensors that say nothing new, and what each must be");
    visit("fields", o.named, "field of config.json: keys of ours that have its value");
    visit("fixed", o.fixed, "fields of config.json with the only value that is read");
    visit("written", o.written, "the same of fields that every written file has");
    visit("without_effect", o.map.without_effect, "fields that change nothing");
    visit("starts_from_zeros", o.map.starts_from_zeros, "the decoder first reads zeros");
    visit("tokenizer", o.map.tokenizer, "how files hold the tokenizer");
    visit("rotary", o.map.rotary, "names in older files");
    visit("window", o.map.window, "what stands for missing fields of a window");
    visit("dropouts", o.dropouts, "keys below model, and the field with the same rate");
  }
};

class OriginReader {
 public:
  explicit OriginReader(config::ProblemList& problems) : problems_(problems) {}

  Origin read(const Value& value) {
    if (value.type != Value::Type::mapping) return {.names = names_of(value)};
    OriginOptions options;
    config::read(value, options::slot_of(options), {schema_, problems_});
    if (value.find("name") == nullptr) {
      problems_.add(value.mark, "needs 'name', of one tensor or of several in a list");
      return {};
    }
    options.origin.names = names_of(options.name);
    if (value.find("or") != nullptr) options.origin.alternative = names_of(options.alternative);
    return options.origin;
  }

  ForeignField field(const Value& value) {
    if (value.type != Value::Type::mapping) return {.keys = names_of(value)};
    FieldOptions options;
    config::read(value, options::slot_of(options), {field_schema_, problems_});
    auto& field = options.field;
    field.keys = names_of(options.key);
    field.words = words_of(options.words);
    if (value.find("usual") != nullptr)
      field.usual = options.usual.type == Value::Type::empty ? "null" : options.usual.scalar;
    return field;
  }

  std::vector<std::string> names_of(const Value& value) {
    const auto items = value.type == Value::Type::list ? value.items : std::vector<Value>{value};
    if (items.empty()) problems_.add(value.mark, "must name at least one tensor");
    std::vector<std::string> names;
    for (const auto& item : items)
      if (item.type == Value::Type::scalar && !item.scalar.empty())
        names.push_back(item.scalar);
      else
        problems_.add(item.mark, "must be the name of a tensor");
    return names;
  }

  Words words_of(const Value& value) {
    Words words;
    for (const auto& [name, mark, word] : value.entries)
      if (word.type == Value::Type::scalar)
        words[name] = word.scalar;
      else
        problems_.add(mark, "must have one word behind it");
    return words;
  }

 private:
  config::ProblemList& problems_;
  const config::Schema schema_ = config::describe(options::slot_of(OriginOptions{})),
                       field_schema_ = config::describe(options::slot_of(FieldOptions{}));
};

constexpr std::string_view kLayer = "{i}";

std::string numbered(std::string name, int64_t layer) {
  tokenizer::replace_all(name, kLayer, std::to_string(layer));
  return name;
}

Origin numbered(Origin origin, int64_t layer) {
  for (auto* parts : {&origin.names, &origin.alternative})
    for (auto& part : *parts) part = numbered(part, layer);
  return origin;
}

template <class Line>
std::map<std::string, Line> with_every_layer(const std::map<std::string, Line>& lines,
                                             int64_t layers) {
  std::map<std::string, Line> all;
  for (const auto& [name, line] : lines)
    for (int64_t i = 0; i < (name.find(kLayer) == std::string::npos ? 1 : layers); ++i)
      all[numbered(name, i)] = numbered(line, i);
  return all;
}

}  // namespace

Origins read_origins(const std::filesystem::path& file) {
  config::ProblemList problems;
  const auto document = config::parse_mapping(config::read_source(file), problems);
  Origins origins;
  OriginReader reader(problems);
  for (const auto& entry : document.entries) origins[entry.key] = reader.read(entry.value);
  problems.raise();
  return origins;
}

FamilyMap read_family_map(const std::string& name, const std::string& yaml, FamilyMap base) {
  config::ProblemList problems;
  const auto document =
      config::parse_mapping(std::make_shared<const config::Source>(name, yaml), problems);
  FamilyOptions options{.map = std::move(base)};
  const auto schema = config::describe(options::slot_of(options));
  config::read(document, options::slot_of(options), {schema, problems});
  OriginReader reader(problems);
  auto& map = options.map;
  const auto lay = [&](const Value& words, Words& over) {
    for (const auto& [field, word] : reader.words_of(words)) over[field] = word;
  };
  lay(options.unused, map.unused);
  lay(options.fixed, map.fixed);
  lay(options.written, map.written);
  lay(options.dropouts, map.dropouts);
  for (const auto& line : options.tensors.entries) map.tensors[line.key] = reader.read(line.value);
  for (const auto& line : options.named.entries) map.fields[line.key] = reader.field(line.value);
  for (const auto& [field, value] : map.fixed) map.fields.erase(field);
  problems.raise();
  return map;
}

Origins expanded(const Origins& origins, int64_t layers) {
  return with_every_layer(origins, layers);
}

Words expanded(const Words& words, int64_t layers) { return with_every_layer(words, layers); }

Origins with_tying(Origins origins, bool tied) {
  for (auto& [name, origin] : origins)
    if (!tied && !origin.untied.empty()) {
      origin.names = {origin.untied};
      origin.alternative.clear();
    }
  return origins;
}

}  // namespace ablate::exchange
