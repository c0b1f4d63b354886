#include "lagtape/core/json/json_reader.h"

#include <doctest/doctest.h>

#include <map>
#include "lagtape/core/json/json_comments.h"
#include "lagtape/core/json/schema.h"

using namespace lagtape;

namespace {

struct Options {
  std::int64_t epochs = 10;
  double rate = 0.1;
  bool shuffle = true;
  std::string name = "none";
  std::string kind = "adam";
  std::int64_t units = 0;
};

void read(JsonReader& reader, Options& options) {
  reader.required("units", options.units, at_least(1), "units of the layer");
  reader.optional("epochs", options.epochs, between(1, 1000), "passes over the data");
  reader.optional("rate", options.rate, above(0), "learning rate");
  reader.optional("shuffle", options.shuffle, "whether to shuffle");
  reader.optional("name", options.name, "a name");
  reader.choice("kind", options.kind, {"adam", "sgd"}, "optimizer");
  reader.finish();
}

// The result of reading the text: the filled-in object, or the errors.
std::string reading(const std::string& text, const std::string& pointer = "") {
  try {
    const Json json = parse_json(text, "file.json");
    JsonErrors errors;
    JsonReader reader(json, pointer, errors);
    Options options;
    read(reader, options);
    errors.raise("file.json");
    return reader.filled().dump();
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string parsing(const std::string& text) {
  try {
    return parse_json(text, "f").dump();
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("comments and commas after a last element are spaces, so that errors keep their places") {
  const auto parsed = [](const std::string& text) -> std::string {
    try {
      return parse_commented_json(text, "f").dump();
    } catch (const InputError& error) {
      return error.what();
    }
  };
  CHECK(parsed("// an experiment\n{\"a\": [1, /* two */ 2, ], // three\n \"b\": {\"c\": \"// no comment, "
               "]\",},\n}") == R"({"a":[1,2],"b":{"c":"// no comment, ]"}})");
  CHECK(parsed("[1, 2 /* a\n comment */ , // and one\n ]") == "[1,2]");
  CHECK(parsed(R"(["a\\", "b\"", /**/ ] //)") == R"(["a\\","b\""])");
  CHECK(without_comments("[1,\r\n//x\r\n]") == "[1 \r\n   \r\n]");
  // Text that only looks like them is an error, as without them.
  for (const char* text :
       {"[,]", "{,}", "[1,,]", "[1 2]", R"({"a":,})", ",", "[1], ", "[/]", "[1 / 2]", "[1 /* ]"})
    CHECK_MESSAGE(parsed(text).starts_with("f: line 1, column"), text);
  CHECK(parsed("{ // one\n /* two\n three */ oops }").starts_with("f: line 3, column 11: "));
  CHECK(parsing("[1,]").starts_with("f: line 1, column 4"));
  CHECK(parsing("[1] // one").starts_with("f: line 1, column 5"));
}

TEST_CASE("Defaults are filled in, in the order of the keys that were asked for") {
  CHECK(reading(R"({"rate": 1, "units": 3})") ==
        R"({"units":3,"epochs":10,"rate":1.0,"shuffle":true,"name":"none","kind":"adam"})");
}

TEST_CASE("What was filled in reads back to itself") {
  const std::string filled = reading(R"({"units": 3.0, "rate": 1e-3, "kind": "sgd", "shuffle": false})");
  CHECK(filled.starts_with(R"({"units":3,)"));
  CHECK(reading(filled) == filled);
}

TEST_CASE("All errors of a file are reported at once, each with its place") {
  CHECK(
      reading(
          R"({"units": 3.5, "epochs": 0, "rate": "fast", "shuffle": 1, "name": null, "kind": "adan", "epoch": 3})",
          "/train") ==
      "file.json: /train/units: expected integer >= 1, got 3.5\n"
      "file.json: /train/epochs: expected integer >= 1 and <= 1000, got 0\n"
      "file.json: /train/rate: expected number > 0, got \"fast\"\n"
      "file.json: /train/shuffle: expected boolean, got 1\n"
      "file.json: /train/name: expected string, got null\n"
      "file.json: /train/kind: unknown value 'adan'; did you mean 'adam'? Known: adam, sgd\n"
      "file.json: /train/epoch: unknown key 'epoch'; did you mean 'epochs'? "
      "Known: units, epochs, rate, shuffle, name, kind");
}

TEST_CASE("Required keys are required, and an object is an object") {
  CHECK(reading("{}") == "file.json: /units: is missing, expected integer >= 1");
  CHECK(reading("[1]") == "file.json: expected an object, got an array");
  CHECK(reading("3", "/model") == "file.json: /model: expected an object, got 3");
}

TEST_CASE("Integers may be written as 3.0, but not beyond what is exact") {
  CHECK(reading(R"({"units": 3e0})").starts_with(R"({"units":3,)"));
  CHECK(reading(R"({"units": 9223372036854775807})").starts_with(R"({"units":9223372036854775807,)"));
  CHECK(reading(R"({"units": 9223372036854775808})") ==
        "file.json: /units: expected integer >= 1, got 9223372036854775808");
  CHECK(reading(R"({"units": 1e300})") == "file.json: /units: expected integer >= 1, got 1e+300");
}

TEST_CASE("A $schema is allowed in the outermost object alone, and is not an option") {
  CHECK(reading(R"({"$schema": "x", "units": 1})").starts_with(R"({"units":1,)"));
  CHECK(reading(R"({"$schema": "x", "units": 1})", "/train")
            .starts_with("file.json: /train/$schema: unknown key"));
}

TEST_CASE("Pointers escape tildes and slashes") {
  CHECK(reading(R"({"units": 1, "a/b~c": 1})").starts_with("file.json: /a~1b~0c: unknown key 'a/b~c'."));
}

TEST_CASE("Raw children are known keys, and the caller fills them in") {
  const Json json = parse_json(R"({"layers": [1, 2]})", "f");
  JsonErrors errors;
  JsonReader reader(json, "", errors);
  CHECK(reader.has("layers"));
  CHECK(reader.raw("layers", "the layers").size() == 2);
  CHECK(reader.raw("extra", "more").is_null());
  reader.fill("extra", 5);
  reader.finish();
  CHECK(errors.empty());
  CHECK(reader.filled().dump() == R"({"layers":[1,2],"extra":5})");
  reader.error("layers", "too few");
  reader.error("", "no");
  CHECK_THROWS_WITH_AS(errors.raise("f"), "f: /layers: too few\nf: no", InputError);
}

TEST_CASE("Errors have a rule, what was found, what was expected and the nearest name") {
  const Json json = parse_json(R"({"epochs": 0, "rate": "fast", "kind": "adan", "shufle": true})", "f");
  JsonErrors errors;
  JsonReader reader(json, "/train", errors);
  Options options;
  read(reader, options);
  std::map<std::string, Problem> by_pointer;
  for (const Problem& problem : errors.problems()) by_pointer[problem.place.pointer] = problem;
  REQUIRE(by_pointer.size() == 5);
  const Problem &units = by_pointer["/train/units"], &epochs = by_pointer["/train/epochs"],
                &rate = by_pointer["/train/rate"], &kind = by_pointer["/train/kind"],
                &shuffle = by_pointer["/train/shufle"];
  CHECK(units.rule == Rule::missing);
  CHECK(units.expected == "integer >= 1");
  CHECK(epochs.rule == Rule::out_of_range);
  CHECK(epochs.found == "0");
  CHECK(epochs.expected == "integer >= 1 and <= 1000");
  CHECK(rate.rule == Rule::wrong_type);
  CHECK(rate.found == "\"fast\"");
  CHECK(kind.rule == Rule::unknown_name);
  CHECK(kind.found == "adan");
  CHECK(kind.nearest == "adam");
  CHECK(shuffle.rule == Rule::unknown_name);
  CHECK(shuffle.nearest == "shuffle");
}

TEST_CASE("A text that is no JSON has a line and a column") {
  try {
    parse_json("{\n  \"a\": 1,\n  \"a\": 2}", "f");
    FAIL("it was read");
  } catch (const InputError& error) {
    const Problem& problem = error.problems().front();
    CHECK(problem.rule == Rule::syntax);
    CHECK(problem.place.file == "f");
    CHECK(problem.place.line == 3);
    CHECK(problem.place.column == 3);
  }
}

TEST_CASE("A key that belongs one level lower is told its place") {
  const Json json = parse_json(R"({"epochs": 3})", "f");
  JsonErrors errors;
  JsonReader reader(json, "", errors);
  reader.fill("train", {{"epochs", 10}});
  reader.finish();
  CHECK_THROWS_WITH_AS(errors.raise("f"), "f: /epochs: unknown key 'epochs'; did you mean /train/epochs?",
                       InputError);
}

TEST_CASE("The keys that were asked for are the documentation") {
  const Json json = Json::object();
  JsonErrors errors;
  JsonReader reader(json, "", errors);
  Options options;
  read(reader, options);
  const std::vector<OptionDoc>& docs = reader.documentation();
  REQUIRE(docs.size() == 6);
  CHECK(type_words(docs[0].schema) == "integer >= 1");
  CHECK(docs[0].fallback.empty());
  CHECK(docs[1].fallback == "10");
  CHECK(type_words(docs[5].schema) == "\"adam\" | \"sgd\"");
  CHECK(docs[5].fallback == "\"adam\"");
  CHECK(docs[5].about == "optimizer");
}

TEST_CASE("A syntax error has its line and column") {
  CHECK(parsing("{\n  \"a\": 1,\n  \"b\" 2\n}").starts_with("f: line 3, column 7: syntax error"));
  CHECK(parsing("{\"ü\": x}").starts_with("f: line 1, column 7: syntax error"));
  CHECK(parsing("").starts_with("f: line 1, column 1: syntax error"));
  CHECK(parsing("{\"a\": 1}\n}").starts_with("f: line 2, column 1: syntax error"));
  CHECK(parsing("\n\n[1, 2").starts_with("f: line 3, column 6: syntax error"));
}

TEST_CASE("A key that occurs twice in one object is an error, in two objects it is not") {
  CHECK(parsing("{\"a\": 1,\n \"b\": {\"a\": 2},\n  \"a\": 3}") ==
        "f: line 3, column 3: key 'a' occurs twice");
  CHECK(parsing(R"({"a\"b": 1, "a\"b": 2})") == "f: line 1, column 13: key 'a\"b' occurs twice");
  CHECK(parsing(R"({"": 1, "": 2})") == "f: line 1, column 9: key '' occurs twice");
  CHECK(parsing(R"([{"a": 1}, {"a": 2}])") == R"([{"a":1},{"a":2}])");
}

TEST_CASE("Numbers that are not finite, and texts nested without end, are refused") {
  CHECK(parsing("[NaN]").starts_with("f: line 1, column 2: syntax error"));
  CHECK(parsing("[1, 1e999]").find("number overflow") != std::string::npos);
  CHECK(parsing("[1, -Infinity]").find("line 1, column") != std::string::npos);
  CHECK(parsing(std::string(101, '[')) == "f: line 1, column 101: nested too deeply");
  CHECK(parsing(std::string(100'000, '[')) == "f: line 1, column 101: nested too deeply");
  CHECK(parsing(std::string(100, '[') + std::string(100, ']')).starts_with("[[["));
}

TEST_CASE("A NUL byte does not end a text") {
  using namespace std::string_literals;
  CHECK(parsing("{}\0"s) == "f: line 1, column 3: a NUL byte, expected the end of the text");
  CHECK(parsing("{\"a\": 1}\n\0{\"a\": 2}"s) ==
        "f: line 2, column 1: a NUL byte, expected the end of the text");
  CHECK(parsing("\0"s).starts_with("f: line 1, column 1: syntax error"));
  CHECK(parsing("[\"a\0b\"]"s).find("control character U+0000") != std::string::npos);
}

TEST_CASE("Of many errors the first ones are shown, and the others counted") {
  JsonErrors errors;
  for (int i = 0; i < 100'000; ++i) errors.add(text_of("/", i), "is wrong");
  std::string message;
  try {
    errors.raise("f");
  } catch (const InputError& error) {
    message = error.what();
  }
  CHECK(message.starts_with("f: /0: is wrong\nf: /1: is wrong\n"));
  CHECK(message.ends_with("f: /19: is wrong\nf: and 99980 more errors"));
}

TEST_CASE("A text with many keys is read and written in time that grows as it does") {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += text_of(i > 0 ? "," : "", "\"key", i, "\":", i);
  text += "}";
  const Json json = parse_json(text, "f");  // minutes, if each key were compared with those before it
  CHECK(json.size() == 200'000);
  CHECK(json.dump() == text);
}

TEST_CASE("Texts cut off anywhere are errors and never anything worse") {
  const std::string text = R"({"a\u00e9": [1, -2.5e3, true, null], "b\"": {"c": "d\\"}})";
  for (std::size_t n = 0; n < text.size(); ++n)
    CHECK(parsing(text.substr(0, n)).starts_with("f: line 1, column "));
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      CHECK_FALSE(parsing(flipped).empty());
    }
  }
}
