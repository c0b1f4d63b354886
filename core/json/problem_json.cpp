#include "lagtape/core/json/problem_json.h"

#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// Parts of a problem come from files and arguments, whose bytes may not be valid text.
Json text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return is_utf8(text) ? text : printable(text, true);
}

/// Calls f(key, member) for each text of a place.
template <class PlaceType, class F>
void for_texts(PlaceType& place, F f) {
  f("file", place.file);
  f("pointer", place.pointer);
  f("item", place.item);
  f("excerpt", place.excerpt);
  f("op", place.op);
}

Json json_of(const Place& place) {
  Json json = Json::object();
  for_texts(place, [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text_or_null(text);
  });
  if (place.line > 0) json["line"] = place.line;
  if (place.column > 0) json["column"] = place.column;
  return json;
}

std::string text_in(const Json& json, const char* key) {
  const Json text = json.value(key, Json());
  return text.is_null() ? "" : text.get<std::string>();
}

}  // namespace

Json json_of(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems)
    list.push_back({{"place", json_of(problem.place)},
                    {"rule", name_of(problem.rule)},
                    {"message", text_or_null(message_of(problem))},
                    {"statement", text_or_null(problem.statement)},
                    {"found", text_or_null(problem.found)},
                    {"expected", text_or_null(problem.expected)},
                    {"hint", text_or_null(problem.hint)},
                    {"nearest", text_or_null(problem.nearest)}});
  return {{"problems", list}};
}

std::vector<Problem> problems_in(const Json& json, const std::string& file) try {
  std::vector<Problem> problems;
  const Json& list = json.at("problems");
  if (!list.is_array()) throw Json::exception({}, Rule::wrong_type, "is no list");
  for (const Json& entry : list) {
    Problem& problem = problems.emplace_back();
    const Json& place = entry.at("place");
    for_texts(problem.place, [&](const char* key, std::string& text) { text = text_in(place, key); });
    problem.place.line = place.value("line", std::int64_t{0});
    problem.place.column = place.value("column", std::int64_t{0});
    problem.rule = rule_named(text_in(entry, "rule"));
    problem.statement = text_in(entry, "statement");
    problem.found = text_in(entry, "found");
    problem.expected = text_in(entry, "expected");
    problem.hint = text_in(entry, "hint");
    problem.nearest = text_in(entry, "nearest");
  }
  return problems;
} catch (const Json::exception& error) {
  throw InputError(error.within({.file = file, .pointer = "/problems"}));
}

}  // namespace lagtape
