#include "lagtape/core/json/schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lagtape {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

Json number_of(double value) {
  constexpr double kExact = 0x1p53;
  if (std::abs(value) > kExact || value != std::trunc(value)) return value;
  return static_cast<std::int64_t>(value);
}

Json bounded(const char* type, const Range& range) {
  Json schema = {{"type", type}};
  if (std::isfinite(range.min))
    schema[range.above_min ? "exclusiveMinimum" : "minimum"] = number_of(range.min);
  if (std::isfinite(range.max))
    schema[range.below_max ? "exclusiveMaximum" : "maximum"] = number_of(range.max);
  return schema;
}

std::string words_of_number(const Json& schema) {
  std::string words = schema.at("type").get<std::string>(), joint = " ";
  for (const auto& [key, sign] : {std::pair{"minimum", ">= "},
                                  {"exclusiveMinimum", "> "},
                                  {"maximum", "<= "},
                                  {"exclusiveMaximum", "< "}}) {
    const Json* bound = schema.find(key);
    if (bound == schema.end() || *bound == kLeast || *bound == kMost) continue;
    words += text_of(joint, sign, bound->dump());
    joint = " and ";
  }
  return words;
}

std::string words_of_object(const Json& schema) {
  if (const Json* values = schema.find("additionalProperties"); values != schema.end() && values->is_object())
    return text_of("object of ", type_words(*values));
  const Json* keys = schema.find("properties");
  if (keys == schema.end()) return "object";
  const Json required = schema.value("required", Json::array());
  std::string words;
  for (const auto& [key, value] : keys->items()) {
    const bool needed = std::ranges::find(required, Json(key)) != required.end();
    words += text_of(words.empty() ? "{" : ", ", '"', key, needed ? "\": " : "\"?: ", type_words(value));
  }
  return words + "}";
}

std::string words_of_list(const Json& schema, bool in_sentence) {
  const Json* of = schema.find("items");
  if (of == schema.end()) return "list";
  std::string words = type_words(*of);
  if (in_sentence && of->contains("type")) words.insert(of->at("type").get<std::string>().size(), "s");
  const std::string least = schema.contains("minItems") ? "1 or more " : "";
  return words.find(" | ") == words.npos || words.starts_with('{')
             ? text_of("list of ", least, words)
             : text_of("list of ", least, "(", words, ")");
}

}  // namespace

Json integer_schema(const Range& range) {
  Json schema = bounded("integer", range);
  if (!schema.contains("minimum")) schema["minimum"] = kLeast;
  if (!schema.contains("maximum")) schema["maximum"] = kMost;
  return schema;
}

Json number_schema(const Range& range) { return bounded("number", range); }

Json text_schema(const Expected& expected) {
  if (!expected.known.empty()) return {{"enum", expected.known}};
  return expected.least > 0 ? Json{{"type", "string"}, {"minLength", expected.least}}
                            : Json{{"type", "string"}};
}

Json list_schema(Json of, std::size_t least) {
  Json schema = {{"type", "array"}, {"items", std::move(of)}};
  if (least > 0) schema["minItems"] = least;
  return schema;
}

Json object_schema_of(Json of) { return {{"type", "object"}, {"additionalProperties", std::move(of)}}; }

Json reference_schema(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

Json either_schema(std::initializer_list<Json> schemas) { return {{"anyOf", Json::array(schemas)}}; }

Json or_null(Json schema) { return either_schema({std::move(schema), Json{{"type", "null"}}}); }

Json schema_of_options(const std::vector<OptionDoc>& options) {
  Json properties = Json::object(), required = Json::array();
  for (const OptionDoc& option : options) {
    Json& schema = properties[option.key] = option.schema;
    schema["description"] = option.about;
    if (!option.fallback.empty() && option.fallback != "null")
      schema["default"] = Json::parse(option.fallback);
    if (option.fallback.empty()) required.push_back(option.key);
  }
  Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

std::string type_words(const Json& schema, bool in_sentence) {
  std::string words;
  if (const Json* names = schema.find("enum"); names != schema.end()) {
    for (const Json& name : *names)
      words += text_of(words.empty() ? "" : " | ", '"', name.get<std::string>(), '"');
    return words;
  }
  if (const Json* any = schema.find("anyOf"); any != schema.end()) {
    for (const Json& one : *any) words += text_of(words.empty() ? "" : " | ", type_words(one));
    return words;
  }
  if (const Json* name = schema.find("const"); name != schema.end()) return name->dump();
  if (const Json* name = schema.find("$ref"); name != schema.end()) {
    words = name->get<std::string>();
    return words.substr(words.rfind('/') + 1);
  }
  const std::string type = schema.value("type", "value");
  if (type == "integer" || type == "number") return words_of_number(schema);
  if (type == "object") return words_of_object(schema);
  return type == "array" ? words_of_list(schema, in_sentence) : type;
}

}  // namespace lagtape
