#include "lagtape/tools/new/commented_json.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

constexpr std::size_t kWidest = 100;  // characters of an object or a list on one line

std::string on_one_line(const Json& value) {
  if (value.is_array()) {
    std::string text;
    for (const Json& element : value) text += (text.empty() ? "" : ", ") + on_one_line(element);
    return "[" + text + "]";
  }
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [key, element] : value.items())
    text += text_of(text.empty() ? "" : ", ", Json(key).dump(), ": ", on_one_line(element));
  return value.empty() ? "{}" : "{ " + text + " }";
}

std::string indent(int depth) { return std::string(static_cast<std::size_t>(2 * depth), ' '); }

}  // namespace

void CommentedJson::before(const std::string& pointer, const std::string& comment) {
  before_[pointer].push_back(comment);
}
void CommentedJson::behind(const std::string& pointer, const std::string& comment) {
  behind_[pointer] = comment;
}

bool CommentedJson::has_comment_within(const std::string& pointer) const {
  const auto within = [&](const auto& entry) { return entry.first.starts_with(pointer + "/"); };
  return std::ranges::any_of(before_, within) || std::ranges::any_of(behind_, within);
}

std::string CommentedJson::text_of_value(const Json& value, const std::string& pointer, int depth) const {
  const bool nested = (value.is_object() || value.is_array()) && !value.empty();
  const std::string line = on_one_line(value);
  const bool fits = line.size() + indent(depth).size() <= kWidest;
  if (!nested || (depth > 0 && fits && !has_comment_within(pointer))) return line;
  std::string text = value.is_object() ? "{\n" : "[\n";
  std::size_t i = 0;
  const auto add = [&](const std::string& key, const std::string& at, const Json& element) {
    const auto above = before_.find(at);
    if (above != before_.end()) {
      if (depth == 0 && i > 0) text += "\n";
      for (const std::string& comment : above->second)
        text += text_of(indent(depth + 1), "// ", comment, "\n");
    }
    text +=
        text_of(indent(depth + 1), key, text_of_value(element, at, depth + 1), ++i < value.size() ? "," : "");
    const auto after = behind_.find(at);
    text += after == behind_.end() ? "\n" : text_of("  // ", after->second, "\n");
  };
  if (value.is_object()) {
    for (const auto& [key, element] : value.items())
      add(Json(key).dump() + ": ", text_of(pointer, "/", key), element);
  } else {
    for (const Json& element : value) add("", text_of(pointer, "/", i), element);
  }
  return text + indent(depth) + (value.is_object() ? "}" : "]");
}

std::string CommentedJson::str() const {
  std::string text;
  if (const auto above = before_.find(""); above != before_.end())
    for (const std::string& comment : above->second) text += text_of("// ", comment, "\n");
  return text + text_of_value(value_, "", 0) + "\n";
}

}  // namespace lagtape
