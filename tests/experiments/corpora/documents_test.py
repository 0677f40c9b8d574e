"""Claims about what documents hold and how sentences are judged."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import unittest
import zipfile

import support  # noqa: F401  (the path of the modules)
import documents
import recipes
import text


class TextTest(unittest.TestCase):
    def test_is_normalized_to_one_form_and_single_spaces(self):
        for before, after in (("  a\t\n b  ", "a b"), ("a\u00a0b", "a b"), ("Wort\u00adgrenze", "Wortgrenze"), ("u\u0308ber", "über"), (" \n", "")):
            self.assertEqual(text.normalized(before), after)

    def test_a_sentence_ends_where_another_begins(self):
        for paragraph, found in (('It works. Does it? "Yes!" 3 times.', ["It works.", "Does it?", '"Yes!" 3 times.']),
                                 ("One. 2 follow.", ["One.", "2 follow."]), ("Es geht. Übrigens: „Ja.“", ["Es geht.", "Übrigens: „Ja.“"]),
                                 ("Files, e.g. those of Debian.", ["Files, e.g. those of Debian."]), ("", [])):
            self.assertEqual(text.sentences(paragraph), found)
        self.assertEqual(text.sentences("Note: Yes.", ".:"), ["Note:", "Yes."])

    def test_paragraphs_of_as_many_sentences_are_divided(self):
        self.assertEqual(text.aligned("p", "One is here. Two follows.", "Eins ist hier. Zwei folgt."),
                         [("p", "One is here.", "Eins ist hier."), ("p", "Two follows.", "Zwei folgt.")])
        self.assertEqual(text.aligned("p", "One. Two.", "Eins und zwei."), [("p", "One. Two.", "Eins und zwei.")])
        self.assertEqual(text.aligned("p", "Debian. Is free.", "Debian. Ist frei."), [("p", "Is free.", "Ist frei.")])
        self.assertEqual(text.aligned("p", "Debian", "Debian"), [])

    def test_a_sentence_and_its_translation_are_clean(self):
        self.assertTrue(text.is_clean("The words are not translated.", "Die Wörter the und of sind nicht übersetzt.", text.GERMAN))
        for language, translation in ((text.GERMAN, "Dies ist eine Probe."), (text.FRENCH, "C'est un essai."), (text.ITALIAN, "Questa è una prova.")):
            self.assertTrue(text.is_clean("This is a test.", translation, language))

    def test_each_mark_of_a_bad_pair_is_enough(self):
        for why, source, target in (
                ("two words", "Two words", "Zwei Wörter"), ("81 words", "word " * 81, "wort " * 40), ("no translation", "Three more words", ""),
                ("too short", "a sentence of thirty letters.", "elf Zeichen"), ("too long", "three short words", "neun Buchstaben " * 5),
                ("no letters", "127 + 45 = 172 okay", "hundert ist eine Zahl"),
                ("no letters in the translation", "a hundred is a number", "100 = 4 * 25 oder ja"),
                ("English twice", "Press the key to continue now.", "Press any key to end the work."),
                ("copied", "Firefox Thunderbird Chromium browser", "Firefox Thunderbird Chromium Werkzeug")):
            with self.subTest(why):
                self.assertFalse(text.is_clean(source, target, text.GERMAN))

    def test_the_first_of_every_source_is_kept(self):
        first = ("p", "This is a test.", "Dies ist eine Probe.")
        kept, counts = text.clean_pairs({"a": [first, ("p", "this IS a test.", "Das ist ein Test."), ("p", "Too short", "Zu kurz")],
                                         "b": [first, ("q", "This is another test.", "Das ist noch eine Probe.")]}, text.GERMAN)
        self.assertEqual(kept, [first, ("q", "This is another test.", "Das ist noch eine Probe.")])
        self.assertEqual(counts, {"a": 1, "b": 1})

    def test_a_set_is_drawn_from_the_first_digits_of_the_sha256(self):
        # echo -n a | sha256sum: ca978112, 3398926610 in decimal.
        self.assertEqual([text.part_of("a", *held) for held in ((0, 611), (1, 610), (0, 610))], ["test", "validation", "train"])

    def test_a_document_is_in_one_set_and_lines_are_parallel(self):
        pairs = [(f"document {i // 3}", str(i), f"x{i}") for i in range(3000)]
        files, counts = text.in_files(pairs, ["en", "de"], validation=100, test=200)
        sets = [set(int(line) // 3 for line in files[f"{part}.en"].split()) for part in ("train", "validation", "test")]
        self.assertEqual(sum(map(len, sets)), 1000)
        self.assertEqual(sum(counts.values()), 3000)
        # Of binomial distributions of 1,000 documents, four standard deviations.
        self.assertAlmostEqual(counts["validation pairs"], 300, delta=3 * 38)
        self.assertAlmostEqual(counts["test pairs"], 600, delta=3 * 51)
        self.assertEqual(files["test.de"], b"".join(b"x" + line + b"\n" for line in files["test.en"].split()))
        self.assertEqual(text.in_files([("a", "one", "eins")], validation=1000, test=0)[0], {"validation.tsv": b"one\teins\n"})


class ArchiveTest(unittest.TestCase):
    def test_a_compressed_file(self):
        for ending, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
            self.assertEqual(documents.text_in("a" + ending, pack("für\n".encode())), "für\n")

    def test_a_debian_package(self):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:xz") as archive:
            for name, member in (("./in/b.txt", b"two"), ("./in/a.txt", b"one"), ("./in/c.png", b"x"), ("./other.txt", b"x")):
                entry = tarfile.TarInfo(name)
                entry.size = len(member)
                archive.addfile(entry, io.BytesIO(member))
            link = tarfile.TarInfo("./in/link.txt")
            link.type, link.linkname = tarfile.SYMTYPE, "a.txt"
            archive.addfile(link)
        members = (("debian-binary", b"2.0"), ("control.tar.xz", b"x"), ("data.tar.xz/", data.getvalue()))
        package = b"!<arch>\n" + b"".join(f"{name:<48}{len(member):<10}`\n".encode() + member + b"\n" * (len(member) % 2) for name, member in members)
        self.assertEqual(list(documents.files_in_package(package, "in/", ".txt").items()), [("a.txt", b"one"), ("b.txt", b"two")])

    def test_a_wheel(self):
        wheel = io.BytesIO()
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("in/a.txt", "one")
            archive.writestr("other", "x")
        self.assertEqual(documents.files_in_wheel(wheel.getvalue(), "in/"), {"a.txt": b"one"})


class IndexTest(unittest.TestCase):
    def test_descriptions_have_titles_and_paragraphs(self):
        index = ("Package: ls\nDescription-md5: 1\nDescription-en: lists   files\n It lists\n files: all of them.\n .\n It can:\n"
                 "  * sort them\n    by name;\n  - count them.\n\n"
                 "Package: ls-doc\nDescription-md5: 1\nDescription-en: the same digest\n\n"
                 "Package: cat\nDescription-md5: 2\nDescription-en: shows files\n")
        self.assertEqual(documents.descriptions_in(index),
                         [("ls", "1", "lists files", ["It lists files: all of them.", "It can:", "sort them by name;", "count them."]),
                          ("cat", "2", "shows files", [])])
        self.assertEqual(documents.descriptions_in(""), [])

    def test_a_package_without_a_source_is_its_own(self):
        self.assertEqual(documents.packages_in("Package: libc6\nSource: glibc (2.36-9)\nSection: libs\nDescription: C\n\n"
                                               "Package: bash\nSection: shells\n"), {"libc6": ("glibc", "libs"), "bash": ("bash", "shells")})
        self.assertEqual(documents.packages_in(""), {})


def catalogue(messages):
    """As msgfmt writes it."""
    texts, tables = b"", []
    for message in [source for source, _ in messages] + [target for _, target in messages]:
        tables += [len(message.encode()), 28 + 16 * len(messages) + len(texts)]
        texts += message.encode() + b"\0"
    return struct.pack(f"<7I{len(tables)}I", 0x950412de, 0, len(messages), 28, 28 + 8 * len(messages), 0, 0, *tables) + texts


class CatalogueTest(unittest.TestCase):
    def test_messages_and_their_translations(self):
        found = documents.messages_in("cui", catalogue([("", "header"), ("menu\4~Save file", "Datei ~speichern"), ("a_b key\0keys", "Taste\0Tasten"),
                                                        ("Same", "Same"), ("Untranslated", "")]))
        self.assertEqual(list(found), [("cui/Save file", "Save file", "Datei speichern"), ("cui/ab key", "ab key", "Taste")])

    def test_each_form_of_an_entry_is_a_pair(self):
        line = "Haus {n}; Heim {n} | Häuser :: house; home [Br.] | houses (many)"
        self.assertEqual(list(documents.dictionary_entries(f"# Ding\n{line}\neins | zwei :: one\nTaxi :: Taxi\n")),
                         [("ding/" + line, "house", "Haus"), ("ding/" + line, "houses", "Häuser")])


class ManPageTest(unittest.TestCase):
    def test_is_divided_into_headings_and_paragraphs(self):
        for page, blocks in (
                ('.\\" a comment\n.TH LS 1\n.SH "SEE ALSO"\nOne\ntwo.\n\nThree.\n.PP\nFour.\n',
                 [[".SH", "SEE ALSO"], ["", "One two."], ["", "Three."], [".PP", ""], ["", "Four."]]),
                ('See\n.BR ls (1)\nand\n.B "a b" c\n.IR file s .\n', [["", "See ls(1) and a b c files."]]),
                ("\\fBa\\fP\\-b \\f(CWc\\fR\\&. \\(aqd\\(aq \\[ha]e \\(em f\\eg \\*h\\~i\n", [["", "a-b c. 'd' ^e — f\\g \\*h i"]]),
                ("A.\n.EX\nint x;\n.EE\n.nf\n  y\n.fi\n.TS\nl l\n.TE\nB.\n",
                 [["", "A."], [".EX", ""], [".EE", ""], [".TS", ""], [".TE", ""], ["", "B."]])):
            self.assertEqual(documents.man_blocks(page), blocks)

    def test_pages_of_the_same_structure_are_parallel(self):
        page = ".SH NAME\nls \\- list files\n.PP\nIt lists. It sorts.\n"
        translation = ".SH BEZEICHNUNG\nls \\- listet Dateien\n.PP\nEs listet. Es sortiert.\n.PP\n.SH ÜBERSETZUNG\nVon jemandem.\n"
        self.assertEqual(documents.man_pairs("ls.1", page, translation, "ÜBERSETZUNG"),
                         [("ls.1", "NAME", "BEZEICHNUNG"), ("ls.1", "ls - list files", "ls - listet Dateien"),
                          ("ls.1", "It lists.", "Es listet."), ("ls.1", "It sorts.", "Es sortiert.")])
        self.assertEqual(documents.man_pairs("ls.1", page + ".TP\nMore.\n", translation, "ÜBERSETZUNG"), [])


def help_page(body):
    return ('<!DOCTYPE html><html><head><title>Not this</title></head><body><p>Nor this: ' + str(len(body)) + '</p><div id="DisplayArea">' + body +
            "</div></body></html>")


class HelpTest(unittest.TestCase):
    def test_blocks_of_the_topic_are_parallel(self):
        self.assertEqual(documents.help_pairs("p", help_page('<h1 id="h">Printing</h1><p id="a">Choose <b>File</b>.<br>Then print.</p>'),
                                              help_page('<h1 id="h">Drucken</h1><p id="a">Wählen Sie <b>Datei</b>.<br>Dann drucken.</p>')),
                         [("p", "Printing", "Drucken"), ("p", "Choose File.", "Wählen Sie Datei."), ("p", "Then print.", "Dann drucken.")])

    def test_what_other_systems_show_is_left_out(self):
        page = help_page('<p id="a">Press <span id="MAC" hidden="">Command</span><span id="defaultWIN" hidden="">Ctrl</span>.</p>'
                         "<script>var x;</script><p>Go on.</p>")
        self.assertEqual(documents.help_pairs("p", page, help_page('<p id="a">Drücken Sie Strg.</p><p>Weiter.</p>')),
                         [("p", "Press Ctrl.", "Drücken Sie Strg."), ("p", "Go on.", "Weiter.")])

    def test_other_blocks_are_found_by_their_ids(self):
        self.assertEqual(documents.help_pairs("p", help_page('<p id="a">First</p><p>Without id</p><p id="b">Second</p>'),
                                              help_page('<p id="b">Zweitens</p><p id="c">Neu</p><p>Ohne</p>')), [("p", "Second", "Zweitens")])

    def test_paragraphs_titles_and_descriptions_of_mallard_are_parallel(self):
        def page(body):
            return f'<?xml version="1.0"?><page xmlns="http://projectmallard.org/1.0/">{body}</page>'
        self.assertEqual(documents.mallard_pairs(
            "p", page("<info><desc>Change it.</desc></info><title>Sound&other;</title><p>Open <gui>Settings</gui> &amp; <em>wait</em>.</p>"),
            page("<info><desc>Es ändern.</desc></info><title>Klang</title><p><gui>Einstellungen</gui> öffnen &amp; warten.</p>")),
            [("p", "Change it.", "Es ändern."), ("p", "Sound", "Klang"), ("p", "Open Settings & wait.", "Einstellungen öffnen & warten.")])
        self.assertEqual(documents.mallard_pairs("p", page("<p>One</p><p>Two</p>"), page("<p>Eins</p>")), [])
        self.assertEqual(documents.mallard_pairs("p", page("<p>One</p>"), page("<title>Eins</title>")), [])


def description(package, title, *paragraphs, digest=None):
    return documents.Description(package, digest or title, title, list(paragraphs))


def words(count, word="word"):
    return " ".join([word] * count)


class RecipeTest(unittest.TestCase):
    def test_a_word_is_its_letters_and_the_first_of_its_pronunciations(self):
        self.assertEqual(list(recipes.pronunciations("'em AH0 M\naalborg AO1 L B AO0 R G # place, danish\naalborg(2) AA1 L\na.m. EY2 EH1 M\n"
                                                     "3d TH R IY1\n")),
                         [("'em", "' e m", "AH M"), ("aalborg", "a a l b o r g", "AO L B AO R G")])

    def test_titles_are_of_texts_of_usual_length_and_by_source_package(self):
        found = recipes.titles([description("libfoo1", "a fine library", words(8), words(7)), description("bar", "a fine bar", words(200, "long")),
                                description("same", "the same text", words(15)), description("short", "a short text", words(14)),
                                description("endless", "an endless text", words(201)), description("terse", "two words", words(16)),
                                description("librust-x-dev", "a rust crate", words(20))], {"libfoo1": ("foo", "libs")})
        self.assertEqual(found, [("foo", words(15), "a fine library"), ("bar", words(200, "long"), "a fine bar")])

    def test_sections_are_of_titles_and_the_beginning_of_texts(self):
        found = recipes.sections([description("libfoo1", "a library", words(100)), description("foo-tools", "some tools", "They help."),
                                  description("gone", "not in the index", "It is gone.")],
                                 {"libfoo1": ("foo", "libs"), "foo-tools": ("foo", "admin")})
        self.assertEqual(found, [("foo", "a library. " + words(58), "libs"), ("foo", "some tools. They help.", "admin")])

    def test_translations_are_found_by_the_digest_of_the_english_text(self):
        english = [description("foo", "a tool", "It helps. It works.", "More: Texts follow.")]
        other = [description("foo", "ein Werkzeug", "Es hilft. Es geht.", "Mehr: Texte folgen.", digest="a tool"), description("bar", "anderes")]
        self.assertEqual(list(recipes.translated(english, other, {"foo": ("source", "utils")})),
                         [("package/source", "a tool", "ein Werkzeug"), ("package/source", "It helps.", "Es hilft."),
                          ("package/source", "It works.", "Es geht."), ("package/source", "More:", "Mehr:"), ("package/source", "Texts follow.", "Texte folgen.")])
        self.assertEqual(list(recipes.translated(english, [description("", "ein Werkzeug", "Es.", digest="a tool")], {})),
                         [("package/foo", "a tool", "ein Werkzeug")])


if __name__ == "__main__":
    unittest.main()
