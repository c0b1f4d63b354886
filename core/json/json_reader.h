#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"

namespace lagtape {

/// Bounds of a number, both included unless said otherwise.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is excluded
  bool below_max = false;  ///< max itself is excluded
};
constexpr Range at_least(double min) { return {.min = min}; }
constexpr Range above(double min) { return {.min = min, .above_min = true}; }
constexpr Range between(double min, double max) { return {.min = min, .max = max}; }
constexpr Range from_below(double min, double end) { return {.min = min, .max = end, .below_max = true}; }

/// The values that a key accepts.
struct Expected {
  bool is_required = false;
  Range range = {};  ///< the range of a number, or of each number of a list
  std::size_t least =
      0;  ///< the minimum number of elements of a list; for a text, of characters in the schema
  std::vector<std::string> known = {};  ///< the allowed names; empty: any text
};

/// One documented key of an object, as `lagtape list` prints it.
struct OptionDoc {
  std::string key;
  Json schema;           ///< JSON Schema of the value; `type_words` describes it in words
  std::string fallback;  ///< the default as JSON; empty when the key is required
  std::string about;
  std::string unit = {};
};

/// A word from another library, with lagtape's word for it.
struct Synonym {
  std::string_view word;       ///< a key, or a value that may be chosen
  std::string_view place;      ///< the JSON Pointer of lagtape's word, in which * is any index; empty: none
  std::string_view hint = {};  ///< sentences with advice
};

/// Collects every problem in a document, each with its JSON Pointer, so a user sees all of them at once.
class JsonErrors {
 public:
  JsonErrors() = default;
  /// Answers other libraries' words with lagtape's. The rows must outlive this object.
  explicit JsonErrors(std::span<const Synonym> synonyms) : synonyms_(synonyms) {}

  /// Notes a problem at a place; its own pointer is appended to the place's pointer.
  void add(const std::string& pointer, const Problem& problem);
  void add(const std::string& pointer, const std::string& statement) {
    add(pointer, Problem{.statement = statement});
  }
  /// Notes the problems of an error.
  void add(const std::string& pointer, const InputError& error);
  /// The problem of an unknown name at `pointer`. For a word from another library, it points to lagtape's
  /// equivalent.
  Problem unknown(std::string_view kind, const std::string& name, const std::vector<std::string>& known,
                  const std::string& pointer) const;
  bool empty() const { return problems_.empty(); }
  bool is_full() const { return problems_.size() >= kMost; }  ///< Further problems are counted but not shown.
  const std::vector<Problem>& problems() const { return problems_; }
  /// Throws InputError with the problems, if there are any, attributed to a file or another named source.
  void raise(const std::string& where) const;

 private:
  static constexpr std::size_t kMost = 20;

  std::span<const Synonym> synonyms_;
  std::vector<Problem> problems_;
  std::size_t more_ = 0;
};

/// A thin reader of one JSON object over a plain options struct: a field's initial value is the key's
/// default. It notes unknown, missing, ill-typed and out-of-range keys in `errors` and continues, and builds the same
/// object with every default filled in. Call `finish` after the last key.
class JsonReader {
 public:
  JsonReader(const Json& value, std::string pointer, JsonErrors& errors);

  /// Reads a number (std::int64_t, double), a bool, a text, or a list of numbers or texts. A missing optional
  /// key, or a list that is null, leaves the value unchanged.
  template <class T>
  void read(const std::string& key, T& value, const Expected& expected, const std::string& about);

  // A shorter form of the above.
  void optional(const std::string& key, auto& value, const Range& range, const std::string& about) {
    read(key, value, {.range = range}, about);
  }
  void optional(const std::string& key, auto& value, const std::string& about) {
    read(key, value, {}, about);
  }
  void required(const std::string& key, auto& value, const Range& range, const std::string& about) {
    read(key, value, {.is_required = true, .range = range}, about);
  }
  void required(const std::string& key, auto& value, const std::string& about) {
    read(key, value, {.is_required = true}, about);
  }
  /// Reads one of several texts; any other is an error that suggests the nearest.
  void choice(const std::string& key, std::string& value, const std::vector<std::string>& known,
              const std::string& about) {
    read(key, value, {.known = known}, about);
  }
  void required_choice(const std::string& key, std::string& value, const std::vector<std::string>& known,
                       const std::string& about) {
    read(key, value, {.is_required = true, .known = known}, about);
  }

  bool has(const std::string& key) const;
  /// A child value, marked as known; null when missing (a key may be). For objects or arrays that the caller
  /// parses itself; the caller stores its result with `fill`.
  const Json& raw(const std::string& key, const std::string& about = "");
  void fill(const std::string& key, Json value);
  /// Documents a key before it is read; reading it then adds no documentation.
  void document(OptionDoc doc) { docs_.push_back(std::move(doc)); }
  /// Notes a problem at a key of this object (or at the object itself when key is empty).
  void error(const std::string& key, const Problem& problem);
  void error(const std::string& key, const std::string& statement) {
    error(key, Problem{.statement = statement});
  }

  const std::string& pointer() const { return pointer_; }
  std::string pointer_to(const std::string& key) const;
  JsonErrors& errors() { return errors_; }
  bool is_object() const { return object_; }

  /// Notes unknown keys, with the nearest known key. The outermost object may have a "$schema".
  void finish();
  /// The object with every default filled in, its keys in the order read.
  const Json& filled() const { return filled_; }
  /// The known keys, in order.
  const std::vector<OptionDoc>& documentation() const { return docs_; }

 private:
  const Json* find(const std::string& key) const;
  bool is_documented(const std::string& key) const { return !docs_.empty() && docs_.back().key == key; }
  /// The place of such a key in an object inside this one: "/train/epochs" for a key that was written one level
  /// too high.
  std::string place_below(const std::string& key) const;
  const Json& value_;
  std::string pointer_;
  JsonErrors& errors_;
  bool object_ = false;
  Json filled_ = Json::object();
  std::vector<OptionDoc> docs_;
};

/// The keys that a function reads, which may depend on the given object.
std::vector<OptionDoc> documented(const std::function<void(JsonReader&)>& read,
                                  const Json& given = Json::object());

/// Parses a JSON text. Throws InputError "WHERE: line L, column C: what is wrong", including for a duplicate
/// key, a non-finite number, and more than 100 levels of nesting.
Json parse_json(const std::string& text, const std::string& where);

}  // namespace lagtape
