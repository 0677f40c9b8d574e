#include "experiments/corpora/text/markup_tree.h"

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>

#include <memory>

#include "data/corpus.h"
#include "experiments/corpora/shared_library.h"

namespace ablate::corpora {
namespace {

/// The functions of libxml2 that are used.
struct Libxml {
  decltype(&htmlReadMemory) html;
  decltype(&xmlReadMemory) xml;
  decltype(&xmlDocGetRootElement) root;
  decltype(&xmlFreeDoc) free;

  Libxml() {
    const SharedLibrary library(ABLATE_LIBXML2, "libxml2");
    library.bind(html, "htmlReadMemory");
    library.bind(xml, "xmlReadMemory");
    library.bind(root, "xmlDocGetRootElement");
    library.bind(free, "xmlFreeDoc");
  }
};

const Libxml& libxml() {
  static const Libxml kLibxml;
  return kLibxml;
}

std::string text_of(const xmlChar* text) {
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

Markup copy_of(const xmlNode& node) {
  Markup markup;
  if (node.type == XML_TEXT_NODE || node.type == XML_CDATA_SECTION_NODE) {
    markup.text = text_of(node.content);
    return markup;
  }
  markup.name = text_of(node.name);
  for (const auto* attribute = node.properties; attribute != nullptr; attribute = attribute->next)
    markup.attributes[text_of(attribute->name)] =
        attribute->children == nullptr ? "" : text_of(attribute->children->content);
  for (const auto* child = node.children; child != nullptr; child = child->next)
    if (child->type == XML_ELEMENT_NODE || child->type == XML_TEXT_NODE ||
        child->type == XML_CDATA_SECTION_NODE)
      markup.children.push_back(copy_of(*child));
  return markup;
}

Markup root_of(xmlDocPtr read) {
  const std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document(read, libxml().free);
  const auto* root = document ? libxml().root(document.get()) : nullptr;
  if (root == nullptr) throw data::DataError("a page is neither HTML nor XML");
  return copy_of(*root);
}

int bytes_of(const std::string& page) { return static_cast<int>(page.size()); }

}  // namespace

std::string Markup::attribute(const std::string& key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? "" : found->second;
}

std::string Markup::content() const {
  std::string all = text;
  for (const auto& child : children) all += child.content();
  return all;
}

Markup read_html(const std::string& page) {
  return root_of(libxml().html(
      page.data(), bytes_of(page), nullptr, "UTF-8",
      HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET));
}

Markup read_xml(const std::string& page) {
  return root_of(
      libxml().xml(page.data(), bytes_of(page), nullptr, nullptr,
                   XML_PARSE_RECOVER | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET));
}

}  // namespace ablate::corpora
