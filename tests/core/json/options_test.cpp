#include "lagtape/core/json/options.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/json/schema.h"

namespace lagtape {
namespace {

enum class Order : std::uint8_t { first, second };

struct Inner {
  std::int64_t size = 3;
  bool operator==(const Inner&) const = default;
};

struct Group {
  double share = 0.5;
  bool operator==(const Group&) const = default;
};

/// A struct with a member of every kind.
struct Settings {
  std::int64_t units = 0, open = 0, dependent = 1;
  double rate = 0.1;
  bool fast = false, inverse = true;
  std::string name = "x", form = "plain";
  Order order = Order::first;
  std::vector<std::int64_t> marks = {};
  std::vector<double> levels = {0.5};
  std::vector<std::string> words = {};
  Inner inner = {};
  std::optional<Inner> maybe = {};
  std::vector<Inner> all = {};
  Group group = {};
  std::int64_t only_fast = 1;

  bool operator==(const Settings&) const = default;
};

void check_inner(const Inner& inner, JsonReader& reader) {
  if (inner.size == 13) reader.error("size", "not 13.");
}
void check(const Settings& settings, JsonReader& reader) {
  if (settings.rate > 0.9 && settings.fast) reader.error("rate", "is too much for fast ones.");
}
void twice_the_units(Settings& settings) { settings.dependent = 2 * settings.units; }

constexpr Option kInnerRows[] = {option<&Inner::size>("size", between(1, 20), "how large")};
constexpr OptionTable kInner = checked<check_inner>(kInnerRows);
constexpr Option kGroupRows[] = {option<&Group::share>("share", from_below(0, 1), "part")};
constexpr OptionTable kGroup = kGroupRows;

constexpr Option kRows[] = {
    required<&Settings::units>("units", between(1, 100), "how many").in("cells"),
    option<&Settings::open>("open", at_least(1), "something else decides").open(),
    option<&Settings::dependent>("dependent", at_least(0), "twice the units").after<twice_the_units>(),
    option<&Settings::rate>("rate", above(0), "speed"),
    option<&Settings::fast>("fast", "whether it is fast"),
    option<&Settings::inverse>("direction", Choices{{"up", true}, {"down", false}}, "where to"),
    option<&Settings::name>("name", "any text"),
    option<&Settings::form>("form", {"plain", "gated"}, "which form"),
    option<&Settings::order>("order", Choices{{"1st", Order::first}, {"2nd", Order::second}}, "order"),
    option<&Settings::marks>("marks", at_least(1), "whole numbers"),
    option<&Settings::levels>("levels", "numbers"),
    option<&Settings::words>("words", {"a", "b"}, "texts"),
    option<&Settings::inner>("inner", kInner, "an object"),
    option<&Settings::maybe>("maybe", kInner, "an object or null"),
    option<&Settings::all>("all", kInner, "objects"),
    rows_of<&Settings::group>(kGroup),
    option<&Settings::only_fast>("only_fast", at_least(0), "for fast ones")
        .when<&Settings::fast>("only fast ones have this."),
};
constexpr OptionTable kTable = checked<check>(kRows);

Settings read(const char* text, Json* filled = nullptr) {
  const Json json = parse_json(text, "f");
  JsonErrors errors;
  JsonReader reader(json, "", errors);
  Settings settings;
  read_options(reader, kTable, settings);
  reader.finish();
  errors.raise("f");
  if (filled != nullptr) *filled = reader.filled();
  return settings;
}

std::string message(const char* text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

constexpr const char* kAll =
    R"({"units": 4, "open": 7, "dependent": 5, "rate": 0.25, "fast": true, "direction": "down", "name": "n",
        "form": "gated", "order": "2nd", "marks": [1, 3], "levels": [0.1], "words": ["b"], "inner": {"size": 9},
        "maybe": {"size": 8}, "all": [{"size": 1}, {}], "share": 0.75, "only_fast": 6})";

TEST_CASE("a table reads every kind of member") {
  const Settings settings = read(kAll);
  const Settings expected{.units = 4,
                          .open = 7,
                          .dependent = 5,
                          .rate = 0.25,
                          .fast = true,
                          .inverse = false,
                          .name = "n",
                          .form = "gated",
                          .order = Order::second,
                          .marks = {1, 3},
                          .levels = {0.1},
                          .words = {"b"},
                          .inner = {9},
                          .maybe = Inner{8},
                          .all = {{1}, {3}},
                          .group = {0.75},
                          .only_fast = 6};
  CHECK(settings == expected);
}

TEST_CASE("what is left out keeps the struct's value, or one that depends on the rows before") {
  const Settings settings = read(R"({"units": 4})");
  Settings expected{.units = 4};
  expected.dependent = 8;
  CHECK(settings == expected);
}

TEST_CASE("a struct is written as it is read, and as the reader fills it in") {
  for (const char* text : {kAll, R"({"units": 4})"}) {
    Json filled;
    const Settings settings = read(text, &filled);
    const Json written = json_of(kTable, settings);
    CHECK(written.dump() == filled.dump());
    CHECK(read(written.dump().c_str()) == settings);
  }
  const Json small = json_of(kTable, Settings{.units = 4});
  CHECK_FALSE(small.contains("open"));
  CHECK_FALSE(small.contains("only_fast"));
  CHECK(small["direction"] == "up");
  CHECK(small["maybe"].is_null());
}

TEST_CASE("errors name the key, what was found and what is expected") {
  CHECK(message("{}") == "f: /units: is missing, expected integer >= 1 and <= 100");
  CHECK(message(R"({"units": 0})") == "f: /units: expected integer >= 1 and <= 100, got 0");
  CHECK(message(R"({"units": 1, "rate": 0})") == "f: /rate: expected number > 0, got 0");
  CHECK(message(R"({"units": 1, "share": 1})") == "f: /share: expected number >= 0 and < 1, got 1");
  CHECK(message(R"({"units": 1, "form": "gate"})") ==
        "f: /form: unknown value 'gate'; did you mean 'gated'? Known: plain, gated");
  CHECK(message(R"({"units": 1, "direction": "us"})").starts_with("f: /direction: unknown value 'us'"));
  CHECK(message(R"({"units": 1, "marks": [0]})") == "f: /marks: expected a list of integers >= 1, got [0]");
  CHECK(message(R"({"units": 1, "levels": "many"})") ==
        "f: /levels: expected a list of numbers, got \"many\"");
  CHECK(message(R"({"units": 1, "words": ["c"]})").starts_with("f: /words/0: unknown value 'c'"));
  CHECK(message(R"({"units": 1, "inner": {"size": 0}})").starts_with("f: /inner/size: expected integer"));
  CHECK(message(R"({"units": 1, "inner": {"size": 13}})") == "f: /inner/size: not 13.");
  CHECK(message(R"({"units": 1, "all": [{}, {"sise": 1}]})").starts_with("f: /all/1/sise: unknown key"));
  CHECK(message(R"({"units": 1, "all": 3})") == "f: /all: must be a list of objects. Got number.");
  CHECK(message(R"({"units": 1, "only_fast": 3})") == "f: /only_fast: only fast ones have this.");
  CHECK(message(R"({"units": 1, "fast": true, "rate": 1})") == "f: /rate: is too much for fast ones.");
}

TEST_CASE("a number in a list breaks the rule that it breaks alone") {
  const auto rule_of = [](const char* text) {
    try {
      read(text);
    } catch (const InputError& error) {
      return error.problems().front().rule;
    }
    return Rule::other;
  };
  CHECK(rule_of(R"({"units": 0})") == Rule::out_of_range);
  CHECK(rule_of(R"({"units": 1, "marks": [2, 0]})") == Rule::out_of_range);
  CHECK(rule_of(R"({"units": 1, "marks": [2, "0"]})") == Rule::wrong_type);
}

TEST_CASE("options are documented with their defaults, types and units") {
  const std::vector<OptionDoc> docs = described(kTable, Settings());
  const auto doc = [&](const char* key) {
    for (const OptionDoc& one : docs)
      if (one.key == key) return one;
    return OptionDoc{};
  };
  CHECK(docs.size() == 16);
  CHECK(doc("units").fallback == "");
  CHECK(doc("units").unit == "cells");
  CHECK(doc("open").fallback == "null");
  CHECK(doc("share").fallback == "0.5");
  CHECK(type_words(doc("share").schema) == "number >= 0 and < 1");
  CHECK(type_words(doc("order").schema) == R"("1st" | "2nd")");
  CHECK(type_words(doc("marks").schema) == "list of integer >= 1 | null");
  CHECK(type_words(doc("all").schema) == R"(list of {"size"?: integer >= 1 and <= 20} | null)");
}

TEST_CASE("a table is for its own struct alone") {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  Inner inner;
  CHECK_THROWS_WITH_AS(read_options(reader, kTable, inner), doctest::Contains("of another struct"), Error);
  CHECK_THROWS_WITH_AS(json_of(kTable, inner), doctest::Contains("of another struct"), Error);
}

TEST_CASE("words of others are answered with ours") {
  constexpr Synonym kSynonyms[] = {{"number", "/list/*/units"}, {"device", "", "Leave it out."}};
  const auto answer = [&](const char* pointer, const char* key) {
    const Json json = {{key, 1}};
    JsonErrors errors{kSynonyms};
    JsonReader reader(json, pointer, errors);
    reader.finish();
    try {
      errors.raise("f");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(answer("/list/12", "number") ==
        "f: /list/12/number: unknown key 'number'; did you mean /list/12/units?");
  CHECK(answer("", "number") == "f: /number: unknown key 'number'; did you mean /list/0/units?");
  CHECK(answer("", "device") == "f: /device: unknown key 'device'. Leave it out.");
  CHECK(answer("", "devices").starts_with("f: /devices: unknown key 'devices'"));
}

}  // namespace
}  // namespace lagtape
