#include "lagtape/data/formats/arff_file.h"

#include <optional>
#include <utility>

#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"

namespace lagtape {

namespace {

/// The attributes of a file's header.
struct Attributes {
  bool is_relation = false;                              ///< values are inside one relation
  std::int64_t steps = 0;                                ///< numeric ones, which are the steps of a dimension
  std::optional<std::vector<std::string>> classes = {};  ///< the last attribute's values, if it is nominal
};

std::string_view without_quotes(std::string_view text) {
  text = trimmed(text);
  const bool is_quoted =
      text.size() > 1 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

/// The name of an attribute, which may be quoted, and what follows it.
std::string_view type_after_name(std::string_view text) {
  const bool is_quoted = text.starts_with('\'') || text.starts_with('"');
  const std::size_t end = is_quoted ? text.find(text.front(), 1) : text.find_first_of(" \t");
  return end == std::string_view::npos ? std::string_view{} : trimmed(text.substr(end + 1));
}

std::vector<std::string> names_in(std::string_view braces) {
  std::vector<std::string> names;
  for (const std::string_view name : parts_of(braces.substr(1, braces.size() - 2), ','))
    names.emplace_back(without_quotes(name));
  return names;
}

void read_attribute(std::string_view text, bool in_relation, ArchiveBuilder& builder,
                    Attributes& attributes) {
  const std::string_view type = type_after_name(text);
  const std::string word = in_lower_case(type);
  if (attributes.classes && !in_relation)
    builder.refuse_value(Rule::not_supported, "the class as the last attribute", quote(text));
  if (word == "relational") {
    attributes.is_relation = true;
  } else if (word == "numeric" || word == "real" || word == "integer") {
    attributes.steps += 1;
  } else if (type.starts_with('{') && type.ends_with('}') && !in_relation) {
    attributes.classes = names_in(type);
  } else {
    builder.refuse_value(Rule::not_supported, "an attribute that is numeric, relational or a list {a,b}",
                         quote(text));
  }
}

/// Reads the lines up to @data.
Attributes read_header(std::istream& file, ArchiveBuilder& builder) {
  Attributes attributes;
  bool in_relation = false;
  for (std::string text; std::getline(file, text);) {
    builder.next_line();
    std::string_view rest = trimmed(text);
    if (rest.empty() || rest.front() == '%') continue;
    const std::string tag = in_lower_case(rest.substr(0, rest.find_first_of(" \t")));
    rest = trimmed(rest.substr(tag.size()));
    if (tag == "@data") return attributes;
    if (tag == "@attribute") {
      read_attribute(rest, in_relation, builder, attributes);
      in_relation = in_relation || in_lower_case(type_after_name(rest)) == "relational";
    } else if (tag == "@end") {
      in_relation = false;
    } else if (tag != "@relation") {
      builder.refuse_value(Rule::syntax, "@relation, @attribute, @end or @data", quote(tag));
    }
  }
  builder.refuse(Rule::missing, "not an .arff file: it has no line @data");
}

void read_dimension(std::string_view text, std::int64_t steps, ArchiveBuilder& builder) {
  const std::vector<std::string_view> values = parts_of(text, ',');
  if (std::ssize(values) != steps)
    builder.refuse_value(Rule::shape, text_of(steps, " values, as many as attributes"),
                         text_of(values.size()));
  for (const std::string_view value : values) builder.add_value(trimmed(value));
  builder.end_dimension();
}

/// Reads the quoted relation at the front of the line, and leaves the class.
void read_relation(std::string_view& line, std::int64_t steps, ArchiveBuilder& builder) {
  const char quotation = line.front();
  line.remove_prefix(1);
  std::string_view relation = take_part(line, quotation);
  while (!relation.empty()) {
    const std::size_t end = std::min(relation.find("\\n"), relation.size());
    read_dimension(relation.substr(0, end), steps, builder);
    relation.remove_prefix(std::min(end + 2, relation.size()));
  }
  take_part(line, ',');
}

}  // namespace

void read_arff(std::istream& file, ArchiveBuilder& builder) {
  Attributes attributes = read_header(file, builder);
  if (!attributes.is_relation) builder.set_dimensions(1);
  if (!attributes.is_relation && !attributes.classes) attributes.steps -= 1;  // the last one is the target
  if (attributes.steps < 1) builder.refuse(Rule::missing, "no numeric attributes before the class");
  if (attributes.classes && attributes.classes->size() < 2)
    builder.refuse_value(Rule::missing, "at least 2 classes", text_of(attributes.classes->size()));
  builder.set_classes(attributes.classes.value_or(std::vector<std::string>{}));
  for (std::string text; std::getline(file, text);) {
    builder.next_line();
    std::string_view line = trimmed(text);
    if (line.empty() || line.front() == '%') continue;
    if (!attributes.is_relation) {
      const std::size_t end = std::min(line.rfind(','), line.size());
      read_dimension(line.substr(0, end), attributes.steps, builder);
      line.remove_prefix(std::min(end + 1, line.size()));
    } else if (line.front() == '\'' || line.front() == '"') {
      read_relation(line, attributes.steps, builder);
    } else {
      builder.refuse_value(Rule::syntax, "a relation in quotation marks", quote(line));
    }
    builder.end_sequence(without_quotes(line), true);
  }
}

}  // namespace lagtape
