"""Tests the pages and pictures of the atlas."""

import json
import math
import re
import subprocess
import sys
import unittest
import unittest.mock

from atlas_fixtures import claim_of, contrast, phrases, record, with_arms_of_the_record, with_regime

import atlas
import choices
import claims
import files
import gallery
import measures

WORDS, CARD, LOOK, CHOICE = (phrases(f"{name}.jinja") for name in ("words", "card", "look", "choice"))


def text_of(path, schema=None):
    """A page below docs."""
    return atlas.pages(schema or {"definitions": {}})[files.DOCS / path]


class Page(unittest.TestCase):
    def test_steps_are_the_baselines_and_the_arms_where_they_differ(self):
        for steps, words in ((100, "100 steps"), (1000, "100 steps (1,000 for `arm`)"),
                             (0, "100 steps (`arm` is an evaluation of the model that the baseline trained)")):
            found = record(contrast("agrees"))
            found["tasks"]["t"]["arms"]["arm"]["steps"] = steps
            self.assertEqual(WORDS.scale(claim_of(found).looks[0]), f"10 parameters, {words}, 2 seeds")

    def test_a_best_value_at_an_end_is_told_of_the_arm_and_of_the_baseline(self):
        with_arms_of_the_record(self)
        for arm in ("base", "arm"):
            claim = claim_of(record(contrast("agrees")))
            self.assertEqual(WORDS.outcome(claim.looks[0]), "agrees")
            claim.looks[0].arms[arm] |= {"chosen": {"rate": "1.0e-3"}, "at_edge": {"rate": "smallest"}}
            self.assertEqual(WORDS.outcome(claim.looks[0]), "agrees\\*")
            self.assertIn(f"Chosen for `{arm}`: `rate` 1.0e-3. 1.0e-3 was the smallest tried, so a smaller one might do better.",
                          LOOK.paragraph(claim.looks[0], "Here"))

    def test_an_outcome_stands_with_what_its_tests_found(self):
        with_arms_of_the_record(self)
        text = LOOK.paragraph(claim_of(record(contrast("inconclusive", p=0.2))).looks[0], "Here")
        self.assertIn("Here: **undecided (margin 0.1 loss)**.", text)
        self.assertIn(" Gain +0.5 (+0.4 to +0.6); p 0.2 (0.2 corrected for the study) that there is a difference. About 80 % of such studies would show a difference of 0.4.\n", text)

    def test_no_page_has_the_words_of_an_old_rule(self):
        for path, text in atlas.pages({"definitions": {}}).items():
            now = re.sub(r"(?s)\nHistory, by the rules of the time:.*\nBy `git", "", text)
            self.assertEqual([word for word in ("contradicts", "Its report says", "e+0") if word in now], [], path.name)

    def test_a_history_has_words_where_they_change(self):
        entries = [{"date": "d1", "words": "A.", "verdict": "not run", "why": "W."}, {"date": "d2", "verdict": "reversed", "why": "X."}]
        with unittest.mock.patch.object(files, "history", lambda: {"one": entries}):
            text = atlas.page("claim.md", claim=claim_of(checked="", where="", margin_from=""))
        self.assertIn('\n- d1: "A." **not run**. W.\n- d2: **reversed**. X.\n', text)

    def test_a_line_of_a_page_is_left_out_where_nothing_can_be_said(self):
        with unittest.mock.patch.object(files, "history", lambda: {"one": []}):
            for changes in (None, "More text."):
                text = atlas.page("claim.md", claim=claim_of(changes=changes, checked="", where="", margin_from=""))
                self.assertEqual("What would change it" in text, changes is not None)
                self.assertNotIn("\n\n\n", text)

    def test_every_claim_tells_its_history(self):
        for claim in claims.read_claims():
            first = files.history()[claim.id][0]
            self.assertIn(f'- {first["date"]}: "{first["words"]}" **not run**', atlas.page("claim.md", claim=claim))

    def test_the_studies_that_were_run_are_linked(self):
        text = text_of("atlas/rules.md")
        for path in files.RESULTS.glob("*.json"):
            self.assertEqual(f"(../results/atlas/{path.stem}.md)" in text, not path.name.startswith("costs"), path)

    def test_the_page_states_its_rules_as_they_are(self):
        text = text_of("atlas/rules.md")
        for outcome in claims.OUTCOMES:
            self.assertIn(f"- **{outcome}**: ", text)
        self.assertIn("exceeds 0.5 of the smallest one", text)
        self.assertIn(f"Ranges of {sum(claim.after_result for claim in claims.read_claims())} claims were entered", text)
        self.assertIn("with 3 times the steps and fresh seeds", text)

    def test_links_lead_from_the_folder_of_the_page(self):
        self.assertEqual(atlas.rebased("[a](b.md) [c](https://d) [e](#f)", "../"), "[a](../b.md) [c](https://d) [e](#f)")

    def test_a_page_has_what_git_says_of_its_study(self):
        claim = claims.read_claims()[0]
        said = subprocess.run(["git", "hash-object", files.HERE / f"{claim.study}.yaml"], capture_output=True, text=True, check=True).stdout.strip()
        self.assertIn(said, atlas.page("claim.md", claim=claim))


def option(*gains, name="A", metric="loss"):
    """An option with these gains, each with an interval of 0.01 to both sides."""
    of = [measures.Measure(1e4 * (i + 1), metric, gain, gain - 0.01, gain + 0.01) for i, gain in enumerate(gains)]
    return choices.Option(name, [claim_of()], of)


class Controls(unittest.TestCase):
    def test_those_that_are_shown_to_differ_are_false_alarms(self):
        other = record(contrast("agrees"))  # an arm, and no control
        alarming, untested, *silent = (record(contrast(None, verdict=verdict)) for verdict in ("better", "unstable", *["inconclusive"] * 19))
        for i, found in enumerate((alarming, untested, *silent)):
            found["tasks"]["t"]["arms"]["arm"] |= {"control": True, "values": [2.0, i]}
        alone = {"tasks": {"t": {"arms": {"base": {"control": True}}}}}
        for records, said in (([other, alone], "No control has been recorded yet"),
                              ([other, alarming, untested, *silent, silent[0]], "1 of 20 controls, baselines with other random numbers, is shown to differ: false alarms, in 0 to 25 % of all studies.")):
            self.assertIn(f"\n\n{said}", atlas.page("index.md", choices=[], signs=[], compared=choices.compared(records)))

    def test_their_share_has_the_exact_interval(self):
        # SciPy 1.17.1: binomtest(k, n).proportion_ci().
        for (count, trials), expected in (((1, 20), (0.00126509, 0.24873276)), ((0, 5), (0, 0.52182375)), ((5, 5), (0.47817625, 1)), ((7, 16), (0.19753413, 0.70122310))):
            for end, value in zip(choices.exact_interval(count, trials), expected, strict=True):
                self.assertAlmostEqual(end, value, delta=1e-4)


class Forecasts(unittest.TestCase):
    def test_are_counted_and_scored_over_all_records(self):
        found = [record(contrast("agrees", forecast={"inside": inside, "interval_score": 1, "brier": brier})) for inside, brier in ((True, 0.1), (True, 0), (False, 0.5))]
        said = "2 of 3 differences were in the 80 % interval that their study forecast. The Brier\nscore of their signs is 0.20, which"
        pages = [atlas.page("index.md", choices=[], signs=[], compared=choices.compared(records)) for records in ([*found, record(contrast("agrees"))], [])]
        self.assertEqual([said in page for page in pages], [True, False])


class Signs(unittest.TestCase):
    def test_those_of_claims_with_figures_are_counted_here_against_there(self):
        with_arms_of_the_record(self)
        published = {"metric": "loss", "baseline": 2, "arm": 1, "better": "lower"}
        found = [claim_of(record(contrast("agrees", mean=mean)), published=published | {"arm": arm})
                 for mean, arm in ((-0.5, 1), (-0.1, 1), (0.5, 1), (0.5, 3))]
        other = [claim_of(), claim_of(record(contrast("agrees"))), claim_of(record(contrast("agrees")), published=published | {"arm": 2}),
                 claim_of(record(contrast("agrees")), published=published, withdrawn="A reason."),
                 claim_of(record(contrast("agrees", verdict="unstable")), published=published)]
        self.assertEqual(choices.signs(found + other), [(True, True), (True, True), (True, False), (False, False)])
        self.assertIn("| better in the source | 2 | 1 |\n| worse in the source | 0 | 1 |\n\n3 of 4 agree, 19 to 99 % of such claims.",
                      atlas.page("index.md", choices=[], signs=choices.signs(found + other), compared=[]))


class Settings(unittest.TestCase):
    def measured(self, *gains, error):
        return [measures.Measure(1e4, "loss", gain, gain, gain, error=error) for gain in gains]

    def test_a_further_setting_is_predicted_by_all(self):
        # By hand: the squares about 0.2 are 0.02, and 0.02 / (0.05^2 + tau^2) is 2 where tau^2 is 0.0075. Student's t from SciPy 1.17.1.
        t = {1: 12.706204736, 2: 4.302652730, 3: 3.182446305}
        for gains, error, half in (((0.1, 0.2, 0.3), 0.05, t[1] * (0.01 / 3 + 0.0075) ** 0.5), ((0.19, 0.2, 0.21), 0.1, t[1] * 0.1 / 3**0.5),
                                   ((0.1, 0.2, 0.2, 0.3), 0.1, t[2] * 0.1 / 2), ((0.1, 0.2, 0.2, 0.2, 0.3), 0.2, t[3] * 0.2 / 5**0.5)):
            mean, low, high = measures.prediction(self.measured(*gains, error=error))
            for value, expected in ((mean, 0.2), (high - mean, half), (mean - low, half)):
                self.assertAlmostEqual(value, expected, places=5)
        self.assertIsNone(measures.prediction(self.measured(0.1, 0.2, error=0.1)))

    def test_what_is_measured_exactly_weighs_more(self):
        self.assertLess(measures.prediction([*self.measured(0.1, 0.11, error=0.01), *self.measured(0.3, error=1)])[0], 0.11)

    def test_the_verdict_is_by_the_interval_in_a_further_setting(self):
        for kind, ends, word in (("superior", (0.01, 0.2), "agrees"), ("superior", (0.01, 0.09), "undecided"), ("inferior", (-0.09, -0.01), "undecided"), ("superior", (-0.2, -0.01), "other sign"), ("superior", (-0.01, 0.2), "undecided"),
                                 ("inferior", (-0.2, -0.01), "agrees"), ("inferior", (0.01, 0.2), "other sign"), ("noninferior", (-0.09, 9), "agrees"),
                                 ("noninferior", (-0.11, 9), "undecided"), ("noninferior", (-0.3, -0.11), "beyond the margin"), ("equal", (-0.09, 0.09), "agrees"),
                                 ("equal", (-0.09, 0.11), "undecided"), ("equal", (0.11, 0.3), "beyond the margin"), ("equal", (-0.3, -0.11), "beyond the margin")):
            self.assertEqual(measures.verdict_of(claim_of(claim=kind), *ends), word, (kind, ends))

    def test_what_is_outside_or_withdrawn_has_no_verdict(self):
        with_arms_of_the_record(self)
        for depth, withdrawn, word in ((9, None, "outside the source's regime"), (1, "A reason.", "withdrawn")):
            claim = claim_of(with_regime(record(contrast("agrees")), depth=[depth, depth]), withdrawn=withdrawn, regime={"depth": [1, 1]})
            self.assertEqual(measures.verdict_of(claim, 0.1, 0.2), word)

    def test_a_page_and_a_card_have_the_verdict_of_all_settings(self):
        with_arms_of_the_record(self)
        claim = claim_of(record(contrast("agrees")), read="figures", where="w")
        for gains, said in ((self.measured(0.1, 0.2, 0.3, error=0.3), True), (self.measured(0.1, 0.2, error=0.3), False)):
            with unittest.mock.patch.object(measures, "measures_of", lambda _: gains):
                self.assertEqual("All 3 settings: **undecided**. The gain in a further one is +0.2 (-2 to +2.4)." in LOOK.all_settings(claim), said)
                self.assertEqual("; all 3 settings: **undecided**" in atlas.page("claims.md", found=[claim]), said)


class Advice(unittest.TestCase):
    def test_the_program_carries_what_the_pages_say(self):
        self.assertEqual((files.HERE / "advice.json").read_text(), atlas.pages({"definitions": {}})[files.HERE / "advice.json"], "`make docs` writes it anew")

    def test_has_gains_by_parameters_and_tokens(self):
        said, = json.loads(atlas.page("advice.json", choices=[choices.Choice("Which one", "plain", [option(0.02, 0.005)])]))
        self.assertEqual({key: said[key] for key in ("choice", "usual", "advice")}, {"choice": "Which one", "usual": "plain", "advice": "Perhaps: A. +0.005 to +0.020 nats."})
        self.assertEqual(said["options"], [{"name": "A", "measured": [{"parameters": 10000, "tokens": 0, "gain": "+0.020"},
                                                                     {"parameters": 20000, "tokens": 0, "gain": "+0.005, not shown"}]}])

    def test_tokens_are_those_of_the_studys_steps(self):
        found = {claim.id: [one.tokens for one in measures.measures_of(claim)] for claim in claims.read_claims() if claim.id == "gates"}
        self.assertEqual(found["gates"], [561600, 1216800, 2080000, 3276000], "2,000 steps of 1,040 tokens, and 540 and more in its ladder")


class Choices(unittest.TestCase):
    def test_an_option_is_better_or_worse_only_where_all_settings_have_that_sign(self):
        for gains, word in (((0.02, 0.005), "better"), ((0.02, -0.005), "depends"), ((0.02, -0.02), "depends"), ((0.005, -0.005), "alike"), ((-0.02, -0.001), "worse"), ((), "unknown")):
            self.assertEqual(option(*gains).word, word, gains)

    def test_what_two_settings_and_half_of_all_show_is_to_be_used(self):
        for gains, advice, others in (((0.02, 0.03), "**Use: A.** +0.020 to +0.030 nats.", "Shown in 2 of 2 settings, 10,000 to 20,000 parameters."),
                                      ((0.02,), "**Perhaps: A.** +0.020 nats.", "Shown in 1 of 1 settings, 10,000 parameters."),
                                      ((0.001,), "**No difference shown: take the cheaper** of plain, A.", ""), ((-0.02,), "**Use: plain.**", "Worse: A.")):
            choice = choices.Choice("Which one", "plain", [option(*gains)])
            self.assertEqual((CHOICE.advice(choice), CHOICE.others(choice).strip()), (advice, others))

    def test_the_option_that_most_settings_show_comes_first(self):
        choice = choices.Choice("Which one", "plain", [option(0.5, 0.5, name="B"), option(0.02, 0.02, 0.02), option(0.001, name="C")])
        self.assertTrue(CHOICE.advice(choice).startswith("**Use: A.**"))
        self.assertTrue(CHOICE.others(choice).endswith("Also better: B. No difference shown: C."), CHOICE.others(choice))

    def test_a_row_pictures_what_its_advice_rests_on_by_size_and_names_it(self):
        for found, names in (([option(0.02, 0.02), option(-0.02, name="B")], ["A 10k +0.020; A 20k +0.020"]), ([option(0.001), option(-0.02, name="B")], ["A 10k +0.001"]),
                             ([option(-0.02), option(-0.03, name="B")], ["A 10k -0.020; B 10k -0.030"]), ([option(0.5, metric="bleu")], ["A 10k +0.50 BLEU"])):
            text = atlas.page("index.md", choices=[choices.Choice("Which one", "plain", found)], signs=[], compared=[])
            name, _, *cells = re.search(r"^\| (\[Which one.*) \|$", text, re.M)[1].split(" | ")
            self.assertEqual(name, "[Which one](#which-one)")
            self.assertEqual([text for cell in cells for text in re.findall("<title>(.*)</title>", cell.replace("&nbsp;", " "))], names)
            self.assertEqual(len(re.findall("<circle|<rect", "".join(cells))), sum(name.count(";") + 1 for name in names))
            self.assertEqual(bool(cells[-1]), found[0].measures[0].metric == "bleu", "the last column is of tasks")

    def test_every_choice_is_of_claims_that_were_measured(self):
        by_id = {claim.id: claim for claim in claims.read_claims()}
        for choice in files.catalogue()["choices"]:
            self.assertTrue(any(measures.measures_of(by_id[one]) for ids in choice["options"].values() for one in ids), choice["choice"])
        self.assertIn("**Use: SwiGLU.** +0.019 to +0.037 nats, worth 1.3 to 1.4 times the compute. Shown in 3 of 4 settings, 28,000 to 161,000 parameters.",
                      text_of("atlas/index.md"))

    def test_a_gain_is_worth_the_compute_that_the_record_says(self):
        for arm, factors in (({"compute": [{"mean": 0.5}, {"mean": "NaN"}]}, [2.0, None]), ({}, [None, None])):
            found = ladder(Ladders.SHOWN, Ladders.ALIKE, **arm)
            self.assertEqual([one.compute for one in measures.rungs_of(found, found["arms"][1])], factors)


class Cards(unittest.TestCase):
    def test_a_card_has_what_it_can_be_filtered_by(self):
        facts = {claim.id: dict(re.findall('data-(\\w+)="([^"]*)"', CARD.card(claim))) for claim in claims.read_claims()}
        self.assertEqual(facts["gates"], {"size": "to 150,000", "of": "text", "time": "not measured", "asked": "more than once", "read": "its figures", "outcome": "agrees"})
        self.assertEqual(facts["playground_brevo"]["time"], "more than 1.1")
        self.assertEqual((facts["nope_t5"]["read"], facts["nope_t5"]["of"]), ("its abstract", "task"))
        self.assertEqual(facts["small_vocabulary"]["read"], "what others say of it", "which is as large_vocabulary")

    def test_the_script_is_short_and_the_cards_are_there_without_it(self):
        self.assertLessEqual(len((files.HERE / "pages" / "cards.js").read_text().splitlines()), 60)
        self.assertEqual(text_of("atlas/claims.md").count('<div class="card"'), len(claims.read_claims()))


class Gallery(unittest.TestCase):
    def test_kinds_have_their_sentence_paper_and_claims_once(self):
        words = {"enum": ["relu", "silu"], "enumDescriptions": ["the larger of both", "swish (Ramachandran et al. 2017, arXiv 1710.05941)"], "description": "between the maps"}
        schema = {"definitions": {"model.feed_forward.activation": words, "model.cross.activation": words, "model.d_model": {"type": "integer"}}}
        text = text_of("gallery.md", schema)
        self.assertIn("`silu` | swish (Ramachandran et al. 2017, [1710.05941](https://arxiv.org/abs/1710.05941)) | 1.08 to 1.21 | [gates](atlas/claims/gates.md): agrees", text)
        self.assertEqual(text.count("`silu`"), 1)
        self.assertIn("`relu` | the larger of both |  |  |", text, "arms of which the baseline has it, too, say nothing of it")

    def test_a_word_in_the_place_of_a_section_is_its_kind(self):
        self.assertIn(("model.position.kind", "rotary"), gallery.changes({"model": {"position": "rotary"}}))
        self.assertIn(("model.position.kind", "rotary"), gallery.changes({"model.position": {"kind": "rotary"}}))


class Outcomes(unittest.TestCase):
    def test_the_program_stands_beside_the_commit_where_it_is_another(self):
        for programs, text in ((["01234567"], "0123456789"), (["01234567", "89abcdef-dirty"], "0123456789, program 01234567, 89abcdef-dirty,")):
            self.assertEqual(WORDS.commit({"commit": "0123456789", "provenance": {"commits": programs}}), text)

    def test_a_study_that_was_registered_is_confirmatory(self):
        for known, word in (({"confirmatory": True}, "Confirmatory"), ({"confirmatory": False}, "Exploratory"), ({}, "Exploratory")):
            self.assertTrue(WORDS.standing({"commit": "c"} | known).startswith(f"{word}: "))

    def test_what_does_not_count_stands_in_brackets(self):
        with_arms_of_the_record(self)
        for depth, withdrawn, word in ((9, None, "outside the source's regime"), (9, "It lacks a part.", "withdrawn"), (1, "It lacks a part.", "withdrawn")):
            for kind, shown in (("equal", "beyond the margin"), ("superior", "other sign")):
                found = with_regime(record(contrast("contradicts", kind, mean=0.5)), depth=[depth, depth])
                claim = claim_of(found, claim=kind, withdrawn=withdrawn, regime={"depth": [1, 1]})
                self.assertEqual(WORDS.outcome(claim.looks[0]), f"{word} ({shown})")

    def test_where_equivalence_decides_its_own_interval_stands(self):
        with_arms_of_the_record(self)
        interval = {"within_interval": [0.01, 0.03]}
        for verdict, known, holds in (("equivalent", interval, True), ("no_worse", interval, True), ("better", interval, False), ("equivalent", {}, False)):
            text = LOOK.paragraph(claim_of(record(contrast("agrees", "equal", verdict=verdict, **known)), claim="equal").looks[0], "Here")
            self.assertEqual("The 90 % interval of the test of the margin, corrected alike, is +0.01 to +0.03." in text, holds, verdict)
            self.assertEqual("90 %" in text, holds)

    def test_shares_are_compared_in_points_and_by_the_way_from_guessing(self):
        with_arms_of_the_record(self)
        found = record(contrast("agrees", mean=0.25), "higher", metric="exact_match")
        for name, mean in (("base", 0.5), ("arm", 0.75)):
            found["tasks"]["t"]["arms"][name] = found["tasks"]["t"]["arms"][name] | {"mean": mean}
        published = {"baseline": 0.4, "arm": 0.0, "better": "higher", "metric": "LAMBADA accuracy"}
        claim = claim_of(found, guess=0.25, published=published)
        self.assertEqual(CARD.effect(claim.looks[0]), "+0.25 exact match (+0.15 to +0.35); 33 and 67 % of the way from guessing to 1")
        self.assertEqual(CARD.published_effect(claim_of(published=published)), "-0.4 LAMBADA accuracy; 40 and 0 % of the way from guessing to 1")

    def test_an_effect_is_positive_where_the_arm_is_better_and_in_per_cent_of_losses_alone(self):
        for metric, direction, text in (("loss", "lower", "+25.0 % (+20.0 to +30.0)"), ("loss", "higher", "-25.0 % (-30.0 to -20.0)"), ("bleu", "lower", "+0.5 BLEU (+0.4 to +0.6)"),
                                        ("bleu", "higher", "-0.5 BLEU (-0.6 to -0.4)")):
            self.assertEqual(CARD.effect(claim_of(record(contrast("agrees"), direction, metric=metric)).looks[0]), text)
        for relative, text in ((None, "not measured"), ({"mean": -0.005, "interval": [-0.011, 0.002]}, "+0.50 % (-0.20 to +1.1)")):
            self.assertEqual(CARD.effect(claim_of(record(contrast("agrees", relative=relative))).looks[0]), text)

    def test_a_published_effect_goes_by_what_is_better(self):
        for better, sign in (("higher", "+"), ("lower", "-")):
            for metric, text in (("perplexity", "10.0 % of perplexity"), ("BLEU", "2 BLEU")):
                claim = claim_of(published={"baseline": 20, "arm": 22, "better": better, "metric": metric})
                self.assertEqual(CARD.published_effect(claim), sign + text)

    def test_an_undecided_claim_has_its_margin_and_an_effect_its_metric(self):
        with_arms_of_the_record(self)
        claim = claim_of(record(contrast("inconclusive", p=0.2)))
        self.assertEqual(WORDS.outcome(claim.looks[0]), "undecided (margin 0.1 loss)")
        claim = claim_of(record(contrast("agrees"), metric="bleu"))
        self.assertEqual("+0.5 BLEU (+0.4 to +0.6)", CARD.effect(claim.looks[0]))


def ladder(*effects, direction="lower", metric="loss", **arm):
    """A ladder over two sizes with a plain arm, and one that has these effects."""
    plain = {"name": "plain", "baseline": "", "effects": [], "scores": [{"mean": 2.0}, {"mean": 1.9}]}
    rungs = [{"x": 28000.0}, {"x": 60000.0}]
    effects = [{"deviation": 0.02, "count": 4} | effect for effect in effects]
    return {"direction": direction, "metric": metric, "rungs": rungs, "arms": [plain, {"name": "arm", "baseline": "plain", "effects": effects} | arm]}


class Ladders(unittest.TestCase):
    SHOWN, ALIKE = {"mean": -0.02, "interval": [-0.03, -0.01]}, {"mean": 0.01, "interval": [-0.01, 0.03]}

    def test_a_gain_is_positive_where_the_arm_is_better(self):
        for direction, gains in (("lower", [(0.02, 0.01, 0.03), (-0.01, -0.03, 0.01)]), ("higher", [(-0.02, -0.03, -0.01), (0.01, -0.01, 0.03)])):
            found = ladder(self.SHOWN, self.ALIKE, direction=direction)
            self.assertEqual([(one.mean, one.low, one.high) for one in measures.rungs_of(found, found["arms"][1])], gains)
            self.assertEqual([one.error for one in measures.rungs_of(found, found["arms"][1])], [0.01, 0.01])

    def test_a_trend_is_told_where_the_interval_of_its_slope_leaves_out_zero(self):
        for direction, interval, words in (("lower", [-0.2, -0.1], " (rising)"), ("lower", [0.1, 0.2], " (falling)"), ("higher", [0.1, 0.2], " (rising)"),
                                           ("higher", [-0.2, -0.1], " (falling)"), ("lower", [-0.1, 0.1], ""), ("lower", None, "")):
            arm = {"effects": []} | ({"slope": {"interval": interval}} if interval else {})
            self.assertEqual(WORDS.sizes({"direction": direction, "metric": "loss", "rungs": []}, arm), words)

    def test_a_claim_has_its_gain_at_each_size_in_bold_where_it_shows_and_in_the_units_of_its_metric(self):
        for metric, text in (("loss", "**+0.020**, -0.010 (rising)"), ("exact_match", "**+2 points**, -1 points (rising)"), ("bleu", "**+0.02 BLEU**, -0.01 BLEU (rising)")):
            found = ladder(self.SHOWN, self.ALIKE, metric=metric, slope={"interval": [-0.2, -0.1]})
            with unittest.mock.patch.object(measures, "LADDERS", {"s": found}):
                (_, _, arm), = measures.ladders_of(claim_of(ladder="arm"))
                self.assertEqual([measures.ladders_of(claim_of(id=name)) for name in ("plain", "other")], [[], []])
            self.assertEqual(WORDS.sizes(found, arm), text)

    def test_a_picture_has_a_mark_and_an_interval_for_each_size(self):
        found = ladder(self.SHOWN, self.ALIKE)
        svg = WORDS.picture(measures.rungs_of(found, found["arms"][1]))
        self.assertEqual((svg.count("<circle"), svg.count("<line"), svg.count('class="shown"')), (2, 3, 1))


class Frontier(unittest.TestCase):
    def test_a_second_look_stands_beside_the_first_outcome(self):
        with_arms_of_the_record(self)
        claim = claim_of(record(contrast("inconclusive", p=0.2)), record(contrast("contradicts", mean=0.5)), read="notes", where="")
        self.assertIn("Outcome: **undecided (margin 0.1 loss)**; second look: other sign", CARD.card(claim))

    def test_a_part_has_its_key_and_what_it_takes(self):
        measured = {"arms": {"scarce_text": {"arm": {"seconds": [1.2, 1.1, 1.3], "memory": 1.0}}}}
        for found, text in ((measured, " Takes 1.20 (1.10 to 1.30) times as long and 1.00 times the memory; 1.20 (1.10 to 1.30) times as long and 1.00 times the memory on a GPU"), ({"arms": {}}, "")):
            with unittest.mock.patch.multiple(measures, COSTS=found, COSTS_GPU=found):
                self.assertEqual(CARD.cost(claim_of()), text)
        self.assertIn("Key: `model.position.kind: pope`. Takes", text_of("frontier.md"))


class Tables(unittest.TestCase):
    def test_a_record_has_a_row_for_each_arm_and_a_column_for_each_test_set(self):
        found = record(contrast("agrees", "equal", mean=0.01, interval=[-0.02, 0.04], margin=0.5))
        found |= {"study": "s", "question": "Is it so?", "seeds": [1, 2], "ladders": [],
                  "expectations": [{"text": "arm.loss < 3", "numbers": "2 < 3", "holds": True}]}
        arm = found["tasks"]["t"]["arms"]["arm"]
        arm |= {"chosen": {"peak": "4.0e-3"}, "at_edge": {"peak": "largest"}, "others": {"test": [2.0, 0.1], "longer": [3.0, 0.2]}}
        text = atlas.page("record.md", record=found)
        self.assertIn("| `base` | 10 | 100 | 2 ± 0.1 | baseline |", text)
        self.assertIn("| `arm` | 10 | 100 | 2 ± 0.1 | +0.01 (-0.02 to +0.04) | 0.01 | 0.01 | equal 0.5 | better and agrees | peak 4.0e-3 (at an end) |", text)
        self.assertIn("| `arm` | 2 ± 0.1 | 3 ± 0.2 |", text)
        self.assertIn("- expected: `arm.loss < 3`: holds (2 < 3)", text)
        found["tasks"]["t"]["arms"]["arm"]["contrast"] |= {"outcome": "inconclusive", "reported": "agrees"}
        self.assertIn(" | equal 0.5 | better and undecided | ", atlas.page("record.md", record=found))
        self.assertIn("Run at c by `k` on P (AVX2), in 3 core minutes.", text)

    def test_what_was_not_tested_has_no_interval(self):
        untested = contrast(None, verdict="not_learned", difference={"p": "NaN", "adjusted_p": "NaN"})
        del untested["interval"]
        found = record(untested) | {"study": "s", "question": "?", "seeds": [1], "ladders": [], "expectations": []}
        self.assertIn(" | -0.5 | nan | nan | superior | not learned | ", atlas.page("record.md", record=found))
        self.assertEqual(measures.measures_of(claim_of(record(untested | {"verdict": "inconclusive"}))), [])

    def test_every_record_has_a_page(self):
        found = {path for path in atlas.pages({"definitions": {}}) if path.parent == files.RESULTS}
        self.assertEqual(found, {path.with_suffix(".md") for path in files.RESULTS.glob("*.json") if not path.name.startswith("costs")})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
