#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

class DocumentMessages : public testing::TestWithParam<MessageCase> {};

TEST_P(DocumentMessages, AreVerbatim) {
  EXPECT_EQ(messages_of(GetParam().yaml, {.sets = GetParam().sets}), GetParam().messages);
}

const std::vector<MessageCase> kDocumentCases = {
    {"DuplicateKey", kBase + "seeds: [2]\n",
     "study.yaml:5:1: duplicate key 'seeds'; first given in line 2"},
    {"EmptyFile", "", "study.yaml: is empty"},
    {"OnlyAComment", "# nothing\n", "study.yaml: is empty"},
    {"TopIsAList", "- a\n",
     "study.yaml:1:1: a configuration is a mapping of keys to values, not a list"},
    {"TopIsAScalar", "hello\n",
     "study.yaml:1:1: a configuration is a mapping of keys to values, not a single value"},
    {"TwoDocuments", kBase + "---\nname: s\nseeds: [1]\nbase:\n  data: {task: copy}\n",
     "study.yaml:5:1: a second document begins; a file holds one"},
    {"Tag", kHead + "base: {data: {task: !python/name copy}}\n",
     "study.yaml:3:21: tag '!python/name' is not supported; write the plain value"},
    {"BinaryTag", "name: !!binary aGk=\n",
     "study.yaml:1:7: tag 'tag:yaml.org,2002:binary' is not supported; write the plain value"},
    {"SelfAlias", "name: &x\n- *x\n",
     "study.yaml:2:3: the alias refers to the value that contains it"},
    {"UnknownAlias", "name: *x\n",
     "study.yaml:1:7: not valid YAML: the referenced anchor is not defined"},
    {"MergeKey", kBase + "arms: {a: &a {model.layers: 2}, b: {<<: *a}}\n",
     "study.yaml:5:37: merge keys '<<' are not supported; write the keys out"},
    {"ListAsKey", "? [a]\n: 1\n", "study.yaml:1:3: a key must be a word"},
    {"ByteOrderMark", "\357\273\277name: s\nseeds: [1]\nbase:\n  data: {task: copy}\n",
     "study.yaml: begins with a byte order mark; save it as UTF-8 without BOM"},
    {"TabInIndentation", "name: s\nbase:\n\tmodel: {}\n",
     "study.yaml:3:1: tab in the indentation; use spaces"},
    {"NotUtf8", "name: \377\n", "study.yaml:1:7: byte 0xFF is not UTF-8; save the file as UTF-8"},
    {"ControlCharacter", "name: a\001b\n", "study.yaml:1:8: control character 0x01"},
    {"BrokenYaml", "name: s\nseeds: [1\n",
     "study.yaml:2:10: not valid YAML: end of sequence flow not found"},
    {"ColumnsCountCharacters",
     kHead + "question: '\303\244 \303\266 \303\274'\nbase: {data: {task: copy}, model: "
             "{\"\303\274\": 1}}\n",
     "study.yaml:4:36: unknown key '\303\274' in model; the keys are family, d_model, layers, "
     "encoder_layers, decoder_layers, attention, cross_attention, feed_forward, position, ngrams, "
     "norm, residual, block, canon, position_ids, residual_mix, share, bias, embedding_scale, "
     "embedding_norm, tying, dropout, output, "
     "initialization, parametrization, encoder, decoder, changes"},
    {"CarriageReturns", "name: s\r\nseeds: [1]\r\nbase: {data: {task: coppy}}\r\n",
     "study.yaml:3:21: unknown task 'coppy' in data; did you mean 'copy'?"},
};

INSTANTIATE_TEST_SUITE_P(Each, DocumentMessages, testing::ValuesIn(kDocumentCases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ablate::config
