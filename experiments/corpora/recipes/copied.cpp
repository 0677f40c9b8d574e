#include <algorithm>

#include "experiments/corpora/recipes/recipes.h"

namespace ablate::corpora {
namespace {

/// The sources as they are, and their sizes.
Made copied(const Files& sources) {
  Made made{.files = sources};
  for (const auto& [name, bytes] : sources)
    made.counts.push_back({"bytes in " + name, static_cast<int64_t>(bytes.size())});
  return made;
}

/// The same of gzip files of lines.
Made copied_lines(const Files& sources) {
  Made made{.files = sources};
  for (const auto& [name, bytes] : sources)
    made.counts.push_back({"lines in " + name, std::ranges::count(unpacked(bytes), '\n')});
  return made;
}

}  // namespace

Recipe tinyshakespeare() {
  return {
      .name = "tinyshakespeare",
      .about = "1.1 million characters of Shakespeare's plays, for language models of characters",
      .licence = "Shakespeare's words are in the public domain.",
      .comparable =
          "Comparable with nanoGPT and others that train on the first 90 % of the characters and "
          "validate on the rest, in nats per character.",
      .roots = {"https://raw.githubusercontent.com/karpathy/char-rnn/"
                "6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e"},
      .sources = {{"data/tinyshakespeare/input.txt", 1'115'394,
                   "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"}},
      .sha256 = "7a28594178015a70f2cbc9e411e6ea1636e1f845e8b35aaa971b340b592676df",
      .make = copied};
}

Recipe multi30k() {
  return {
      .name = "multi30k",
      .about = "30,000 captions of images in English and German, for translation",
      .licence =
          "Its repository grants no licence: the captions come from Flickr30k, for non-commercial "
          "research and education; cite Elliott et al. 2016 (W16-3210).",
      .comparable =
          "Comparable with published BLEU on Multi30k's test_2016_flickr, where both are of raw "
          "text and the same sacreBLEU signature, or both tokenised and lower-cased.",
      .roots = {"https://raw.githubusercontent.com/multi30k/dataset/"
                "a3d2e0d26b56f3846f66a952536ffed4e401d05a"},
      .sources = {{"data/task1/raw/train.en.gz", 568'929,
                   "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"},
                  {"data/task1/raw/train.de.gz", 637'044,
                   "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"},
                  {"data/task1/raw/val.en.gz", 21'650,
                   "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"},
                  {"data/task1/raw/val.de.gz", 24'681,
                   "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"},
                  {"data/task1/raw/test_2016_flickr.en.gz", 21'077,
                   "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"},
                  {"data/task1/raw/test_2016_flickr.de.gz", 22'890,
                   "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"}},
      .sha256 = "d389d51b3b5d137a1efc1f142fc557666298944bd09a627d4b6069ee5ac8be73",
      .make = copied_lines};
}

}  // namespace ablate::corpora
