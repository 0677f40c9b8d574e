#include "experiments/corpora/text/pages.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <string_view>

#include "experiments/corpora/text/alignment.h"
#include "experiments/corpora/text/markup_tree.h"
#include "experiments/corpora/text/text.h"

namespace ablate::corpora {
namespace {

/// A paragraph, heading or cell; `id` is the same in every language.
struct PageBlock {
  std::string id;
  std::string text;
};

/// Reads the blocks of the part of a help page that is about its topic.
class HelpPage {
 public:
  explicit HelpPage(const std::string& page) {
    visit(read_html(page));
    flush();
  }
  const std::vector<PageBlock>& blocks() const { return blocks_; }

 private:
  void visit(const Markup& markup) {
    if (markup.name == "br") text_ += ' ';
    if (on_topic_) text_ += markup.text;
    on_topic_ = on_topic_ || markup.attribute("id") == "DisplayArea";
    if (is_hidden(markup)) return;
    const bool block = is_block(markup.name);
    if (block) begin(markup.attribute("id"));
    for (const auto& child : markup.children) visit(child);
    if (block) flush();
  }

  static bool is_block(std::string_view name) {
    constexpr std::array<std::string_view, 16> kBlocks{"p",     "h1", "h2", "h3",  "h4",  "h5",
                                                       "h6",    "td", "li", "th",  "div", "tr",
                                                       "table", "ul", "ol", "body"};
    return std::ranges::find(kBlocks, name) != kBlocks.end();
  }
  /// What help for other operating systems and programs shows alone.
  static bool is_hidden(const Markup& markup) {
    constexpr std::array<std::string_view, 5> kAround{"script", "style", "nav", "header", "aside"};
    if (std::ranges::find(kAround, markup.name) != kAround.end()) return true;
    return markup.name == "span" && markup.attributes.contains("hidden") &&
           !markup.attribute("id").starts_with("default");
  }

  void begin(const std::string& id) {
    flush();
    id_ = id;
  }
  void flush() {
    if (auto text = normalized(text_); !text.empty()) blocks_.push_back({id_, std::move(text)});
    text_.clear();
    id_.clear();
  }

  std::vector<PageBlock> blocks_;
  std::string id_, text_;
  bool on_topic_ = false;
};

bool have_the_same_ids(const std::vector<PageBlock>& a, const std::vector<PageBlock>& b) {
  return std::ranges::equal(a, b, {}, &PageBlock::id, &PageBlock::id);
}

/// Titles, descriptions and paragraphs in their order; the id is the element's name.
void gather_mallard(const Markup& markup, std::vector<PageBlock>& blocks) {
  if (markup.name == "p" || markup.name == "title" || markup.name == "desc")
    blocks.push_back({markup.name, normalized(markup.content())});
  for (const auto& child : markup.children) gather_mallard(child, blocks);
}

std::vector<PageBlock> mallard_blocks(const std::string& page) {
  std::vector<PageBlock> blocks;
  gather_mallard(read_xml(page), blocks);
  return blocks;
}

std::vector<Pair> in_parallel(const std::string& document, const std::vector<PageBlock>& sources,
                              const std::vector<PageBlock>& targets) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].text.empty() && !targets[i].text.empty())
      add_sentences(pairs, {document, sources[i].text, targets[i].text});
  return pairs;
}

}  // namespace

std::vector<Pair> help_pairs(const std::string& document, const std::string& page,
                             const std::string& translation) {
  const HelpPage source(page), target(translation);
  if (have_the_same_ids(source.blocks(), target.blocks()))
    return in_parallel(document, source.blocks(), target.blocks());
  std::map<std::string, std::string> texts;
  for (const auto& block : target.blocks()) texts[block.id] = block.text;
  std::vector<Pair> pairs;
  for (const auto& block : source.blocks())
    if (const auto found = texts.find(block.id); !block.id.empty() && found != texts.end())
      add_sentences(pairs, {document, block.text, found->second});
  return pairs;
}

std::vector<Pair> mallard_pairs(const std::string& document, const std::string& page,
                                const std::string& translation) {
  const auto sources = mallard_blocks(page), targets = mallard_blocks(translation);
  if (!have_the_same_ids(sources, targets)) return {};
  return in_parallel(document, sources, targets);
}

}  // namespace ablate::corpora
