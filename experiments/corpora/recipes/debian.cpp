#include "experiments/corpora/recipes/debian.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_set>

#include "experiments/corpora/recipes/recipes.h"
#include "experiments/corpora/text/text.h"

namespace ablate::corpora {
namespace {

constexpr const char* kDescriptionsLicence =
    "Descriptions of Debian's packages, under the free licence of each package; none is stated for "
    "translations. Fetch them for yourself rather than hand them on.";
constexpr const char* kReleaseAlone =
    "they are a test set of our own, of Debian 12.15, on which nothing else has been published";
constexpr size_t kWordsOfATopic = 60;

bool is_rust_library(const std::string& package) { return package.starts_with("librust-"); }

std::string joined(const std::vector<std::string>& texts, size_t most_words) {
  std::string result;
  size_t words = 0;
  for (const auto& text : texts)
    for (const auto& word : words_of(text)) {
      if (words++ == most_words) return result;
      result += (result.empty() ? "" : " ") + word;
    }
  return result;
}

std::string joined(const std::vector<std::string>& texts) {
  return joined(texts, std::numeric_limits<size_t>::max());
}

Packages packages_of(const Files& sources) {
  return packages_in(unpacked(sources.at("Packages.xz")));
}

std::vector<Description> english_of(const Files& sources) {
  return descriptions_in(unpacked(sources.at("Translation-en.xz")));
}

int64_t documents_of(const std::vector<Pair>& pairs) {
  std::unordered_set<std::string> documents;
  for (const auto& pair : pairs) documents.insert(pair.document);
  return std::ssize(documents);
}

Made make_titles(const Files& sources) {
  const auto pairs = titles(english_of(sources), packages_of(sources));
  auto made = in_two_files(pairs, {"description", "title"}, {});
  made.counts.push_back({"source packages", documents_of(pairs)});
  return made;
}

Made make_sections(const Files& sources) {
  const auto pairs = sections(english_of(sources), packages_of(sources));
  auto made = in_one_file(pairs, {});
  std::unordered_set<std::string> classes;
  for (const auto& pair : pairs) classes.insert(pair.target);
  made.counts.push_back({"sections", std::ssize(classes)});
  made.counts.push_back({"source packages", documents_of(pairs)});
  return made;
}

}  // namespace

std::vector<std::string> debian_roots() {
  return {"https://deb.debian.org/debian",
          "https://snapshot.debian.org/archive/debian/20260801T000000Z"};
}

Source english_descriptions() {
  return {"dists/bookworm/main/i18n/Translation-en.xz", 6'107'304,
          "a3d4a0bfd8e9242810b0885eda7c1a6e05dac15b333ddbaab03ba56f2dfa4bf0"};
}

Source translated_descriptions(const std::string& language) {
  if (language == "de")
    return {"dists/bookworm/main/i18n/Translation-de.bz2", 1'748'338,
            "2cc65c7f8b85d8a2964c3735bbf86be79bfd3342ef8908150e268137fe5dac7f"};
  if (language == "fr")
    return {"dists/bookworm/main/i18n/Translation-fr.bz2", 2'728'394,
            "3248f0206d704300067e35cc2d4380dc1f1b418b5b9f446c3d42424b98d0abad"};
  return {"dists/bookworm/main/i18n/Translation-it.bz2", 5'291'861,
          "f01a5f14992838ff8140da6e025c514c900c4f55d3169d5ef1710ed2deee2bde"};
}

Source package_index() {
  return {"dists/bookworm/main/binary-amd64/Packages.xz", 8'790'396,
          "9e0b5aabb2465b3d2e7a7fe27f9913846277833f7a2826e7767acccff5b588c5"};
}

const std::string& source_package(const Packages& packages, const std::string& package) {
  const auto found = packages.find(package);
  return found == packages.end() ? package : found->second.source;
}

std::vector<Pair> titles(const std::vector<Description>& descriptions, const Packages& packages) {
  std::vector<Pair> pairs;
  std::unordered_set<std::string> texts;
  for (const auto& description : descriptions) {
    if (is_rust_library(description.package)) continue;
    const auto text = joined(description.paragraphs);
    const auto words = count_words(text), title_words = count_words(description.title);
    if (words < 15 || words > 200 || title_words < 3 || title_words > 20) continue;
    if (texts.insert(text).second)
      pairs.push_back({source_package(packages, description.package), text, description.title});
  }
  return pairs;
}

std::vector<Pair> sections(const std::vector<Description>& descriptions, const Packages& packages) {
  std::vector<Pair> pairs;
  std::unordered_set<std::string> texts;
  for (const auto& description : descriptions) {
    const auto entry = packages.find(description.package);
    if (entry == packages.end()) continue;
    auto all = description.paragraphs;
    all.insert(all.begin(), description.title + ".");
    const auto text = joined(all, kWordsOfATopic);
    if (texts.insert(text).second)
      pairs.push_back({entry->second.source, text, entry->second.section});
  }
  return pairs;
}

std::vector<Pair> translated(const std::vector<Description>& english,
                             const std::vector<Description>& other, const Packages& packages) {
  std::map<std::string, const Description*> translations;
  for (const auto& description : other) translations[description.digest] = &description;
  std::vector<Pair> pairs;
  for (const auto& description : english) {
    const auto found = translations.find(description.digest);
    if (found == translations.end()) continue;
    const auto& translation = *found->second;
    const auto document = "package/" + source_package(packages, description.package);
    if (description.title != translation.title)
      pairs.push_back({document, description.title, translation.title});
    if (description.paragraphs.size() != translation.paragraphs.size()) continue;
    for (size_t i = 0; i < description.paragraphs.size(); ++i)
      add_sentences(pairs, {document, description.paragraphs[i], translation.paragraphs[i]},
                    ".!?:");
  }
  return pairs;
}

Recipe debian_titles() {
  return {.name = "debian-titles",
          .about = "55,000 long descriptions of packages and their titles, for summarisation",
          .licence = kDescriptionsLicence,
          .comparable = fmt::format(
              "Comparable with other models on the same files alone: {}. Gigaword's headlines, the "
              "nearest task, are of news.",
              kReleaseAlone),
          .roots = debian_roots(),
          .sources = {english_descriptions(), package_index()},
          .sha256 = "d8d58edc691c74929306c4cb314d2ee36afa7adc6377c777f355161dc9b6799b",
          .make = make_titles};
}

Recipe debian_sections() {
  return {.name = "debian-sections",
          .about = "60,000 descriptions of packages and Debian's sections, for classification",
          .licence = kDescriptionsLicence,
          .comparable = fmt::format("Comparable with other models on the same files alone: {}.",
                                    kReleaseAlone),
          .roots = debian_roots(),
          .sources = {english_descriptions(), package_index()},
          .sha256 = "3594a3d541dd71dc8f156a61585b09ac09f56951d1f05c59a104a457864d4ecf",
          .make = make_sections};
}

}  // namespace ablate::corpora
