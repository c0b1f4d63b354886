#include "lagtape/tools/train/json_set.h"

#include <charconv>

#include "lagtape/core/quote.h"

namespace lagtape {

namespace {

/// The option in messages.
Place place_of(const std::string& assignment) {
  return {.item = text_of("--set ", shortened(assignment, 200))};
}

/// The keys of a pointer: "/a/b~1c" with its escapes, or "a.b".
std::vector<std::string> keys_of(const std::string& path, const std::string& assignment) {
  const bool pointer = path.starts_with('/');
  const char separator = pointer ? '/' : '.';
  std::vector<std::string> keys(1);
  for (std::size_t i = pointer ? 1 : 0; i < path.size(); ++i) {
    if (path[i] == separator) {
      keys.emplace_back();
    } else if (pointer && path[i] == '~') {
      const char escape = i + 1 < path.size() ? path[++i] : '\0';
      if (escape != '0' && escape != '1') {
        throw InputError(place_of(assignment), Rule::syntax,
                         "in a JSON pointer '~' is written ~0 and '/' is ~1.");
      }
      keys.back() += escape == '0' ? '~' : '/';
    } else {
      keys.back() += path[i];
    }
  }
  constexpr std::size_t kDeepest = 100;  // documents are written and freed by functions that call themselves
  if (keys.size() > kDeepest)
    throw unexpected(place_of(assignment), Rule::out_of_range,
                     text_of("a path of at most ", kDeepest, " keys"), text_of(keys.size()));
  for (const std::string& key : keys) {
    if (key.empty())
      throw InputError(place_of(assignment), Rule::syntax, text_of(quote(path), " has an empty key."));
  }
  return keys;
}

Json& element(Json& list, const std::string& key, const std::string& assignment) {
  if (key.size() > 1 && key.starts_with('0')) {
    throw unexpected(place_of(assignment), Rule::syntax,
                     "the number of an element, such as 0 or 12, without zeros before it", quote(key));
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || index >= list.size()) {
    throw InputError(
        place_of(assignment), Rule::out_of_range,
        text_of(quote(key), " is not an element of a list of ", list.size(), "; elements count from 0."));
  }
  return list[index];
}

}  // namespace

Assignment parse_assignment(const std::string& text) {
  if (!is_utf8(text)) throw InputError(place_of(text), Rule::wrong_type, "the text is not UTF-8.");
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw unexpected(place_of(text), Rule::syntax, "KEY=VALUE, such as train.epochs=3 or /train/epochs=3");
  }
  const std::string value = text.substr(equals + 1);
  return {.text = text,
          .keys = keys_of(text.substr(0, equals), text),
          .value = Json::accept(value) ? Json::parse(value) : Json(value)};
}

void assign(Json& document, const Assignment& assignment) {
  Json* place = &document;
  for (const std::string& key : assignment.keys) {
    if (place->is_null()) *place = Json::object();
    if (place->is_array()) {
      place = &element(*place, key, assignment.text);
    } else if (place->is_object()) {
      place = &(*place)[key];
    } else {
      throw InputError(
          place_of(assignment.text), Rule::wrong_type,
          text_of("there is no ", quote(key), " in a value that is a ", place->type_name(), "."));
    }
  }
  *place = assignment.value;
}

void assign(Json& document, const std::string& assignment) { assign(document, parse_assignment(assignment)); }

}  // namespace lagtape
