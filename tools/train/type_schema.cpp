#include "lagtape/tools/train/type_schema.h"

#include <charconv>
#include <limits>
#include <string_view>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

class TypeParser {
 public:
  explicit TypeParser(const std::string& type) : whole_(type), rest_(type) {}

  Json whole() {
    Json schema = type();
    if (!rest_.empty()) fail();
    return schema;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(text_of("[schema] no type at '", rest_, "' in '", whole_, "'."));
  }

  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    skip_blanks();
    return true;
  }
  void need(std::string_view text) {
    if (!take(text)) fail();
  }

  std::string text_in_quotes() {
    const std::size_t end = rest_.find('"', 1);
    if (!rest_.starts_with('"') || end == rest_.npos) fail();
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    skip_blanks();
    return text;
  }

  Json number() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    skip_blanks();
    constexpr double kExact = 0x1p53;
    const bool whole = value == static_cast<double>(static_cast<std::int64_t>(std::min(value, kExact)));
    return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
  }

  Json bounded(const char* name) {
    Json schema = {{"type", name}};
    if (take(">=")) {
      schema["minimum"] = number();
    } else if (take(">")) {
      schema["exclusiveMinimum"] = number();
    }
    take("and ");
    if (take("<=")) schema["maximum"] = number();
    if (name != std::string_view("integer")) return schema;
    if (!schema.contains("minimum")) schema["minimum"] = std::numeric_limits<std::int64_t>::min();
    if (!schema.contains("maximum")) schema["maximum"] = std::numeric_limits<std::int64_t>::max();
    return schema;
  }

  /// The keys of an object, its opening bracket taken.
  Json object() {
    Json properties = Json::object(), required = Json::array();
    do {
      const std::string key = text_in_quotes();
      if (!take("?")) required.push_back(key);
      need(":");
      properties[key] = type();
    } while (take(","));
    need("}");
    Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
    if (!required.empty()) schema["required"] = required;
    return schema;
  }

  Json one() {
    if (rest_.starts_with('"')) return {{"const", text_in_quotes()}};
    if (take("(")) {
      Json inner = type();
      need(")");
      return inner;
    }
    if (take("{")) return object();
    if (take("list of 1 or more ")) return {{"type", "array"}, {"items", one()}, {"minItems", 1}};
    if (take("list of ")) return {{"type", "array"}, {"items", one()}};
    if (take("object of ")) return {{"type", "object"}, {"additionalProperties", one()}};
    if (take("integer")) return bounded("integer");
    if (take("number")) return bounded("number");
    for (const char* name : {"boolean", "string", "null", "object"})
      if (take(name)) return {{"type", name}};
    if (take("list")) return {{"type", "array"}};
    if (take("value")) return Json::object();
    fail();
  }

  Json type() {
    Json alternatives = Json::array();
    do alternatives.push_back(one());
    while (take("| "));
    if (alternatives.size() == 1) return alternatives[0];
    Json texts = Json::array();
    for (const Json& alternative : alternatives)
      if (alternative.contains("const")) texts.push_back(alternative["const"]);
    if (texts.size() == alternatives.size()) return {{"enum", texts}};
    return {{"anyOf", alternatives}};
  }

  const std::string& whole_;
  std::string_view rest_;
};

}  // namespace

Json schema_of_type(const std::string& type) { return TypeParser(type).whole(); }

Json schema_of_options(const std::vector<OptionDoc>& options) {
  Json properties = Json::object(), required = Json::array();
  for (const OptionDoc& option : options) {
    Json schema = schema_of_type(option.type);
    schema["description"] = option.about;
    if (!option.fallback.empty() && option.fallback != "null" && Json::accept(option.fallback))
      schema["default"] = Json::parse(option.fallback);
    properties[option.key] = schema;
    if (option.fallback.empty()) required.push_back(option.key);
  }
  Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

}  // namespace lagtape
