#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"

namespace lagtape {

/// Bounds of a number, both included unless said otherwise.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is excluded
};
inline Range at_least(double min) { return {.min = min}; }
inline Range above(double min) { return {.min = min, .above_min = true}; }
inline Range between(double min, double max) { return {.min = min, .max = max}; }

/// One documented key of an object, as `lagtape list` prints it.
struct OptionDoc {
  std::string key;
  std::string type;      ///< "integer", "number", "string", "boolean", ...
  std::string fallback;  ///< the default as JSON; empty when the key is required
  std::string about;
};

/// Collects every problem of a document, each with its JSON Pointer, so that a user sees them all at once.
class JsonErrors {
 public:
  /// Notes a problem at a place; its own pointer is appended to that of the place.
  void add(const std::string& pointer, const Problem& problem);
  void add(const std::string& pointer, const std::string& statement) {
    add(pointer, Problem{.statement = statement});
  }
  /// Notes the problems of an error.
  void add(const std::string& pointer, const InputError& error);
  bool empty() const { return problems_.empty(); }
  bool is_full() const { return problems_.size() >= kMost; }  ///< Further problems are counted and not shown.
  const std::vector<Problem>& problems() const { return problems_; }
  /// Throws InputError with the problems, if there are any, as those of a file or what is named instead of one.
  void raise(const std::string& where) const;

 private:
  static constexpr std::size_t kMost = 20;

  std::vector<Problem> problems_;
  std::size_t more_ = 0;
};

/// A thin reader of one JSON object over a plain options struct: a field's initial value is the key's
/// default. It notes unknown, missing, ill-typed and out-of-range keys in `errors` and goes on, and builds
/// the same object with every default filled in. Call `finish` after the last key.
class JsonReader {
 public:
  JsonReader(const Json& value, std::string pointer, JsonErrors& errors);

  // Reads a key that may be missing: then `value` stays and is written to `filled`.
  void optional(const std::string& key, std::int64_t& value, Range range, const std::string& about);
  void optional(const std::string& key, double& value, Range range, const std::string& about);
  void optional(const std::string& key, bool& value, const std::string& about);
  void optional(const std::string& key, std::string& value, const std::string& about);
  /// Reads a string out of a list; any other is an error that names the nearest.
  void choice(const std::string& key, std::string& value, const std::vector<std::string>& known,
              const std::string& about);

  // Reads a key that must be there.
  void required(const std::string& key, std::int64_t& value, Range range, const std::string& about);
  void required(const std::string& key, double& value, Range range, const std::string& about);
  void required(const std::string& key, std::string& value, const std::string& about);
  void required_choice(const std::string& key, std::string& value, const std::vector<std::string>& known,
                       const std::string& about);

  bool has(const std::string& key) const;
  /// A child value, marked as known; null when missing (a key may be). For values that are objects or arrays
  /// of the caller's own form; the caller puts its result back with `fill`.
  /// `type` and `fallback` are for the documentation, fallback empty when the key is required.
  const Json& raw(const std::string& key, const std::string& about, const std::string& type = "value",
                  const std::string& fallback = "null");
  void fill(const std::string& key, Json value);
  /// Notes a problem at a key of this object (or at the object itself when key is empty).
  void error(const std::string& key, const Problem& problem);
  void error(const std::string& key, const std::string& statement) {
    error(key, Problem{.statement = statement});
  }

  const std::string& pointer() const { return pointer_; }
  std::string pointer_to(const std::string& key) const;
  JsonErrors& errors() { return errors_; }
  bool is_object() const { return object_; }

  /// Notes keys that nobody asked for, with the nearest known one. The outermost object may have a "$schema".
  void finish();
  /// The object with every default filled in, keys in the order they were asked for.
  const Json& filled() const { return filled_; }
  /// The keys that were asked for, in order.
  const std::vector<OptionDoc>& documentation() const { return docs_; }

 private:
  const Json* find(const std::string& key) const;
  /// Where an object inside this one has such a key: "/train/epochs" for a key that was written one level too high.
  std::string place_below(const std::string& key) const;
  template <class T>
  void read(const std::string& key, T& value, bool required, const std::string& type,
            const std::string& about, const Range& range = {});
  void read_choice(const std::string& key, std::string& value, bool required,
                   const std::vector<std::string>& known, const std::string& about);

  const Json& value_;
  std::string pointer_;
  JsonErrors& errors_;
  bool object_ = false;
  Json filled_ = Json::object();
  std::vector<OptionDoc> docs_;
};

/// Parses a JSON text. Throws InputError "WHERE: line L, column C: what is wrong", also for a key that occurs
/// twice, a number that is not finite, and more than 100 levels of nesting.
Json parse_json(const std::string& text, const std::string& where);

}  // namespace lagtape
