#pragma once

#include <regex>
#include <string>

#include "lagtape/core/json/json.h"

namespace lagtape::test {

/// Whether a value is valid under a JSON Schema (2020-12): the keywords that the experiment's schema uses, and a
/// failure for any other, so that none is passed over. It shares nothing with what makes the schema.
class SchemaValidator {
 public:
  explicit SchemaValidator(const Json& root) : root_(root) {}

  bool accepts(const Json& value) const { return accepts(root_, value); }

 private:
  static bool is_type(const Json& value, const std::string& type) {
    if (type == "integer") {
      return value.is_number_integer() ||
             (value.is_number_float() &&
              value.get<double>() == static_cast<double>(static_cast<std::int64_t>(value.get<double>())));
    }
    return type == value.type_name();
  }

  bool accepts(const Json& schema, const Json& value) const {
    for (const auto& [keyword, rule] : schema.items()) {
      if (!follows(schema, keyword, rule, value)) return false;
    }
    return true;
  }

  bool follows(const Json& schema, const std::string& keyword, const Json& rule, const Json& value) const {
    if (keyword == "type") return is_type(value, rule.get<std::string>());
    if (keyword == "const") return value == rule;
    if (keyword == "enum") return contains(rule, value);
    if (keyword == "$ref") return accepts(*root_.find_pointer(rule.get<std::string>().substr(1)), value);
    if (keyword == "not") return !accepts(rule, value);
    if (keyword == "anyOf") return count(rule, value) > 0;
    if (keyword == "oneOf") return count(rule, value) == 1;
    if (keyword == "allOf") return count(rule, value) == rule.size();
    if (keyword == "if") {
      const char* branch = accepts(rule, value) ? "then" : "else";
      return !schema.contains(branch) || accepts(schema[branch], value);
    }
    if (value.is_number()) {
      if (keyword == "minimum") return value.get<double>() >= rule.get<double>();
      if (keyword == "maximum") return value.get<double>() <= rule.get<double>();
      if (keyword == "exclusiveMinimum") return value.get<double>() > rule.get<double>();
      if (keyword == "exclusiveMaximum") return value.get<double>() < rule.get<double>();
    }
    if (value.is_string()) {
      const std::string text = value.get<std::string>();
      if (keyword == "pattern") return std::regex_search(text, std::regex(rule.get<std::string>()));
      if (keyword == "minLength") return text.size() >= rule.get<std::size_t>();
    }
    if (value.is_array() && !follows_as_array(keyword, rule, value)) return false;
    if (value.is_object() && !follows_as_object(schema, keyword, rule, value)) return false;
    for (const char* known : {"then",
                              "else",
                              "minimum",
                              "maximum",
                              "exclusiveMinimum",
                              "exclusiveMaximum",
                              "pattern",
                              "minLength",
                              "items",
                              "minItems",
                              "uniqueItems",
                              "properties",
                              "required",
                              "additionalProperties",
                              "propertyNames",
                              "description",
                              "default",
                              "title",
                              "$defs",
                              "$schema"})
      if (keyword == known) return true;
    throw Error(text_of("the test's validator does not know '", keyword, "'"));
  }

  bool follows_as_array(const std::string& keyword, const Json& rule, const Json& value) const {
    if (keyword == "minItems") return value.size() >= rule.get<std::size_t>();
    if (keyword == "items") {
      for (const Json& item : value)
        if (!accepts(rule, item)) return false;
    }
    if (keyword == "uniqueItems") {
      for (std::size_t i = 0; i < value.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
          if (value[i] == value[k]) return false;
    }
    return true;
  }

  bool follows_as_object(const Json& schema, const std::string& keyword, const Json& rule,
                         const Json& value) const {
    if (keyword == "required") {
      for (const Json& key : rule)
        if (!value.contains(key.get<std::string>())) return false;
    }
    for (const auto& [key, inside] : value.items()) {
      if (keyword == "properties" && rule.contains(key) && !accepts(rule[key], inside)) return false;
      if (keyword == "propertyNames" && !accepts(rule, Json(key))) return false;
      if (keyword != "additionalProperties") continue;
      if (schema.contains("properties") && schema["properties"].contains(key)) continue;
      if (rule.is_boolean() ? !rule.get<bool>() : !accepts(rule, inside)) return false;
    }
    return true;
  }

  static bool contains(const Json& list, const Json& value) {
    for (const Json& one : list)
      if (one == value) return true;
    return false;
  }
  std::size_t count(const Json& schemas, const Json& value) const {
    std::size_t count = 0;
    for (const Json& schema : schemas) count += accepts(schema, value) ? 1 : 0;
    return count;
  }

  const Json& root_;
};

}  // namespace lagtape::test
