#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "data/corpus.h"
#include "experiments/corpora/recipes/debian.h"
#include "experiments/corpora/recipes/recipes.h"
#include "experiments/corpora/text/catalogue.h"
#include "experiments/corpora/text/man_page.h"
#include "experiments/corpora/text/pages.h"

namespace ablate::corpora {
namespace {

/// Packages of one translation; names without versions.
struct Translation {
  Language language;
  std::string english_name;     // "German"
  bool has_dictionary = false;  // Ding's
  std::vector<Source> packages;
  std::string sha256;
};

const std::vector<Source>& packages_in_english() {
  static const std::vector<Source> kPackages{
      {"pool/main/libr/libreoffice/libreoffice-help-en-us_7.4.7-1+deb12u14_all.deb", 1'753'504,
       "8faa840285734d6cfe1ed25537b48f07e74bd6412e3917bf8e5f8a653f7b3712"},
      {"pool/main/m/manpages/manpages_6.03-2_all.deb", 1'331'652,
       "efa1ba4cd19ad7baeae959c9209a7eb74be2ebb858bcabb412597bfc9f588c91"},
      {"pool/main/m/manpages/manpages-dev_6.03-2_all.deb", 2'030'264,
       "96f55cb5e26231d5567c89b692bced63825a14a2d5bd18fdf16ea2ed44eb9838"},
      {"pool/main/g/gnome-user-docs/gnome-user-docs_43.0-2_all.deb", 8'523'220,
       "0d635a840747958ca84da778b40d341f1155603851f922c9a171f5a181d6a39f"}};
  return kPackages;
}

/// The bytes of the package `name` in whatever version.
const std::string& package_named(const Files& sources, const std::string& name) {
  const auto found = sources.lower_bound(name + "_");
  if (found == sources.end() || !found->first.starts_with(name + "_"))
    throw data::DataError("the package " + name + " is missing");
  return found->second;
}

/// The files of a package below `folder` that end on `ending`, by their paths below it.
Files files_below(const std::string& package, const std::string& folder,
                  const std::string& ending) {
  const auto found = files_in_package(package, [&](std::string_view name) {
    return name.starts_with(folder) && name.ends_with(ending);
  });
  Files files;
  for (const auto& [name, bytes] : found) files[name.substr(folder.size())] = bytes;
  return files;
}

/// Calls `visit` with the name, the page and its translation for every page that has one.
void for_translated(const Files& pages, const Files& translations, auto&& visit) {
  for (const auto& [name, page] : pages)
    if (const auto found = translations.find(name); found != translations.end())
      visit(name, page, found->second);
}

void append(std::vector<Pair>& pairs, std::vector<Pair> more) {
  std::ranges::move(more, std::back_inserter(pairs));
}

std::vector<Pair> from_help(const Files& sources, const Language& language) {
  const auto pages_of = [&](const std::string& package, const std::string& folder) {
    return files_below(package_named(sources, "libreoffice-help-" + package),
                       "usr/share/libreoffice/help/" + folder + "/text/", ".html");
  };
  std::vector<Pair> pairs;
  for_translated(pages_of("en-us", "en-US"), pages_of(language.code, language.code),
                 [&](const auto& name, const auto& page, const auto& translation) {
                   append(pairs, help_pairs("libreoffice-help/" + name, page, translation));
                 });
  return pairs;
}

std::vector<Pair> from_descriptions(const Files& sources, const Language& language) {
  return translated(descriptions_in(unpacked(sources.at("Translation-en.xz"))),
                    descriptions_in(unpacked(sources.at("Translation-" + language.code + ".bz2"))),
                    packages_in(unpacked(sources.at("Packages.xz"))));
}

std::vector<Pair> from_dictionary(const Files& sources, const Language&) {
  const auto files =
      files_below(package_named(sources, "trans-de-en"), "usr/share/trans/", "de-en");
  auto pairs = dictionary_entries(files.at("de-en"));
  std::erase_if(pairs, [](const Pair& pair) {
    const auto ends = [](const std::string& text) {
      return std::string_view(".!?").find(text.back()) != std::string_view::npos;
    };
    return !ends(pair.source) || !ends(pair.target);
  });
  return pairs;
}

/// Pages by name and section, such as "ls.1.gz", of a package and of that with "-dev".
Files man_pages(const Files& sources, const std::string& package, const std::string& folder) {
  Files pages;
  for (const auto* suffix : {"", "-dev"})
    for (const auto& [path, bytes] :
         files_below(package_named(sources, package + suffix), folder + "/man", ".gz"))
      pages[path.substr(path.rfind('/') + 1)] = unpacked(bytes);
  return pages;
}

std::vector<Pair> from_man_pages(const Files& sources, const Language& language) {
  std::vector<Pair> pairs;
  for_translated(man_pages(sources, "manpages", "usr/share/man"),
                 man_pages(sources, "manpages-" + language.code, "usr/share/man/" + language.code),
                 [&](const auto& name, const auto& page, const auto& translation) {
                   append(pairs, man_pairs("man/" + name, page, translation, language));
                 });
  return pairs;
}

std::vector<Pair> from_interface(const Files& sources, const Language& language) {
  const auto folder = "usr/lib/libreoffice/program/resource/" + language.code + "/LC_MESSAGES/";
  std::vector<Pair> pairs;
  for (const auto& [name, bytes] :
       files_below(package_named(sources, "libreoffice-l10n-" + language.code), folder, ".mo"))
    append(pairs, messages_in("libreoffice/" + name, bytes));
  return pairs;
}

std::vector<Pair> from_desktop_help(const Files& sources, const Language& language) {
  const auto& package = package_named(sources, "gnome-user-docs");
  std::vector<Pair> pairs;
  for_translated(files_below(package, "usr/share/help/C/", ".page"),
                 files_below(package, "usr/share/help/" + language.code + "/", ".page"),
                 [&](const auto& name, const auto& page, const auto& translation) {
                   append(pairs, mallard_pairs("gnome-help/" + name, page, translation));
                 });
  return pairs;
}

Made make_translation(const Files& sources, const Translation& translation) {
  std::vector<std::pair<std::string, decltype(&from_help)>> kinds{
      {"LibreOffice's help", from_help},           {"package descriptions", from_descriptions},
      {"Ding's dictionary", from_dictionary},      {"man pages", from_man_pages},
      {"LibreOffice's interface", from_interface}, {"GNOME's help", from_desktop_help}};
  if (!translation.has_dictionary) kinds.erase(kinds.begin() + 2);
  CleanPairs clean(translation.language);
  std::vector<Count> counts;
  for (const auto& [what, read] : kinds)
    counts.push_back({"pairs from " + what, clean.add(read(sources, translation.language))});
  counts.push_back({"pairs", std::ssize(clean.pairs())});
  auto made = in_two_files(clean.pairs(), {"en", translation.language.code}, {});
  made.counts.insert(made.counts.begin(), counts.begin(), counts.end());
  return made;
}

Recipe translation_recipe(const Translation& translation) {
  const auto& code = translation.language.code;
  Recipe recipe{
      .name = "debian-en-" + code,
      .about = fmt::format("sentences of software documentation in English and {}, for translation",
                           translation.english_name),
      .licence = fmt::format(
          "LibreOffice: MPL-2.0; GNOME's help: CC-BY-SA-3.0; man pages: GPL-3+ and other free "
          "licences{}; descriptions of packages: the licence of each, none stated for "
          "translations. Fetch them for yourself rather than hand them on.",
          translation.has_dictionary ? "; Ding's dictionary: GPL-2+" : ""),
      .comparable =
          "Comparable with other models on the same files alone: they are a test set of our own, "
          "of "
          "Debian 12.15, in technical language, on which no BLEU has been published.",
      .roots = debian_roots(),
      .sources = translation.packages,
      .sha256 = translation.sha256,
      .make = [translation](const Files& sources) {
        return make_translation(sources, translation);
      }};
  for (const auto& source :
       {english_descriptions(), translated_descriptions(code), package_index()})
    recipe.sources.push_back(source);
  std::ranges::copy(packages_in_english(), std::back_inserter(recipe.sources));
  return recipe;
}

}  // namespace

Recipe debian_en_de() {
  return translation_recipe(
      {.language = german(),
       .english_name = "German",
       .has_dictionary = true,
       .packages = {{"pool/main/libr/libreoffice/libreoffice-help-de_7.4.7-1+deb12u14_all.deb",
                     3'293'908, "00490b63c509ac96f7f212d6a6e40452d3e0d1f97ccf4b824dd5ec4c01e8277f"},
                    {"pool/main/libr/libreoffice/libreoffice-l10n-de_7.4.7-1+deb12u14_all.deb",
                     861'940, "aee22c8e3b3c0431f6e1b0bc66f757ba36c860e2651a05eb050fde4897f06548"},
                    {"pool/main/d/ding/trans-de-en_1.9-6_all.deb", 6'276'816,
                     "45f6b4cf1c434776fba6811d7bc522efabb5425c43ba8afd0e289bf9e2e53df4"},
                    {"pool/main/m/manpages-l10n/manpages-de_4.18.1-1_all.deb", 3'615'560,
                     "37d2e7ee51f22952aecec3af93647ff59194a3c74bb7a694560f49c7f7ab3978"},
                    {"pool/main/m/manpages-l10n/manpages-de-dev_4.18.1-1_all.deb", 1'141'048,
                     "cb3d7c10977dd3c811065d89e0d912196ec5e6f2551308edb0ba72e02da838d7"}},
       .sha256 = "8c47bfd414587597718f4692dd4d4bc0657b5cf9c93027e7fd9f93c77760e8bb"});
}

Recipe debian_en_fr() {
  return translation_recipe(
      {.language = french(),
       .english_name = "French",
       .packages = {{"pool/main/libr/libreoffice/libreoffice-help-fr_7.4.7-1+deb12u14_all.deb",
                     3'237'008, "c796530d3e95af1ea4d054076682efc8aad2b569ae9513f3d4a776b2df3fd206"},
                    {"pool/main/libr/libreoffice/libreoffice-l10n-fr_7.4.7-1+deb12u14_all.deb",
                     860'388, "111da5e1b8379dc58a127ef76ef85e2b6819da5cb2c5fe73d13b25a0437f988c"},
                    {"pool/main/m/manpages-l10n/manpages-fr_4.18.1-1_all.deb", 1'899'104,
                     "ec29759cc0e4a44dc7719c1e32869d0060667049e584f09556f0d982b969ea33"},
                    {"pool/main/m/manpages-l10n/manpages-fr-dev_4.18.1-1_all.deb", 2'645'176,
                     "25f5a53208d92f0a69a89e349edfb3068e6e6e4e0673fe712dd0d3b0c5b1512d"}},
       .sha256 = "9bf19f94157f128e219adbbcc90b2724097e0e86f9c7c272675e209548ad4f97"});
}

Recipe debian_en_it() {
  return translation_recipe(
      {.language = italian(),
       .english_name = "Italian",
       .packages = {{"pool/main/libr/libreoffice/libreoffice-help-it_7.4.7-1+deb12u14_all.deb",
                     3'183'388, "7fa29342a302bb495981fdabf98f3a9c3628123f3f191b2a5c95cb583c9ff212"},
                    {"pool/main/libr/libreoffice/libreoffice-l10n-it_7.4.7-1+deb12u14_all.deb",
                     853'180, "a1c9d025e5f2aa775a7f55d6c3720b6b16a6f89b67a2f442116367569308b7e0"},
                    {"pool/main/m/manpages-l10n/manpages-it_4.18.1-1_all.deb", 436'864,
                     "4b18e87cc1b6a930d40949ddc86fb8e84b50da1a862cd17e2a504eeb8e3b4e48"},
                    {"pool/main/m/manpages-l10n/manpages-it-dev_4.18.1-1_all.deb", 160'636,
                     "a14a1aa168ad1be85d5202d1ed69b9c995413420b0a62854e391796fa6692daa"}},
       .sha256 = "53d077e43298f66d07c9ef76d13ec1ad062793129c62a476f1a4c125f565b41a"});
}

}  // namespace ablate::corpora
