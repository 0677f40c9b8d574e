#include "experiments/exchange/format/name_map.h"

#include <string_view>

#include "experiments/config/schema/describe.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/yaml/document.h"

namespace ablate::exchange {
namespace {

using config::Value;

/// The keys of an entry that is more than a name.
struct OriginOptions {
  Value name, alternative;
  bool transpose = false, by_head = false, vocabulary = false, unsqueeze = false, always = false;
  int64_t skip = 0;
  std::string untied;

  static void fields(auto& o, auto&& visit) {
    visit("name", o.name, "of one tensor, or of several in a list");
    visit("or", o.alternative, "the same, if the file does not have the first of them");
    visit("untied", o.untied, "of one tensor, if the output is no embedding");
    visit("transpose", o.transpose, "whether it is to be transposed");
    visit("by_head", o.by_head, "query, key and value of each head stand beside each other");
    visit("vocabulary", o.vocabulary, "it has a row for every token");
    visit("unsqueeze", o.unsqueeze, "it has a dimension more, of size 1, in front");
    visit("always", o.always, "zeros in the file if ours is absent");
    visit("skip", o.skip, "rows at its beginning that are left out");
  }
};

/// The keys of a family's map.
struct FamilyOptions {
  std::string prefix;
  Value tensors, unused, fixed, without_effect, dropouts;
  bool starts_from_zeros = false;
  TokenizerWords tokenizer;

  static void fields(auto& o, auto&& visit) {
    visit("prefix", o.prefix, "of the tensors of a model with a head");
    visit("tensors", o.tensors, "own name: foreign name");
    visit("unused", o.unused, "tensors that say nothing new, and what each must be");
    visit("fixed", o.fixed, "fields of config.json with the only value that is read");
    visit("without_effect", o.without_effect, "fields that change nothing");
    visit("starts_from_zeros", o.starts_from_zeros, "the first input of the decoder is zeros");
    visit("tokenizer", o.tokenizer, "how files hold the tokenizer");
    visit("dropouts", o.dropouts, "keys below model, and the field with the same rate");
  }
};

class OriginReader {
 public:
  explicit OriginReader(config::ProblemList& problems) : problems_(problems) {}

  Origin read(const Value& value) {
    if (value.type != Value::Type::mapping) return {.names = names_of(value)};
    OriginOptions options{.name = {.mark = value.mark}, .alternative = {}};
    config::read(value, options::slot_of(options), {schema_, problems_});
    if (value.find("name") == nullptr)
      problems_.add(value.mark, "needs 'name', of one tensor or of several in a list");
    else
      return {.names = names_of(options.name),
              .alternative = value.find("or") == nullptr ? std::vector<std::string>()
                                                         : names_of(options.alternative),
              .untied = options.untied,
              .transpose = options.transpose,
              .by_head = options.by_head,
              .vocabulary = options.vocabulary,
              .unsqueeze = options.unsqueeze,
              .always = options.always,
              .skip = options.skip};
    return {};
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
  const config::Schema schema_ = config::describe(options::slot_of(OriginOptions{}));
};

constexpr std::string_view kLayer = "{i}";

std::string numbered(std::string name, int64_t layer) {
  for (size_t at = 0; (at = name.find(kLayer, at)) != std::string::npos;)
    name.replace(at, kLayer.size(), std::to_string(layer));
  return name;
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

FamilyMap read_family_map(const std::string& name, const std::string& yaml) {
  config::ProblemList problems;
  const auto document =
      config::parse_mapping(std::make_shared<const config::Source>(name, yaml), problems);
  FamilyOptions options;
  const auto schema = config::describe(options::slot_of(options));
  config::read(document, options::slot_of(options), {schema, problems});
  OriginReader reader(problems);
  FamilyMap map{.prefix = options.prefix,
                .tensors = {},
                .unused = reader.words_of(options.unused),
                .fixed = reader.words_of(options.fixed),
                .without_effect = reader.names_of(options.without_effect),
                .starts_from_zeros = options.starts_from_zeros,
                .tokenizer = options.tokenizer,
                .dropouts = reader.words_of(options.dropouts)};
  for (const auto& line : options.tensors.entries) map.tensors[line.key] = reader.read(line.value);
  problems.raise();
  return map;
}

Words expanded(const Words& words, int64_t layers) {
  Words all;
  for (const auto& [name, word] : words)
    for (int64_t i = 0; i < (name.find(kLayer) == std::string::npos ? 1 : layers); ++i)
      all[numbered(name, i)] = word;
  return all;
}

Origins expanded(const Origins& origins, int64_t layers) {
  Origins all;
  for (const auto& [name, origin] : origins)
    for (int64_t i = 0; i < (name.find(kLayer) == std::string::npos ? 1 : layers); ++i) {
      auto one = origin;
      for (auto& part : one.names) part = numbered(part, i);
      for (auto& part : one.alternative) part = numbered(part, i);
      all[numbered(name, i)] = std::move(one);
    }
  return all;
}

Origins with_tying(Origins origins, bool tied) {
  for (auto& [name, origin] : origins)
    if (!tied && !origin.untied.empty()) {
      origin.names = {origin.untied};
      origin.alternative.clear();
    }
  return origins;
}

}  // namespace ablate::exchange
