#include "lagtape/core/json/json.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace lagtape;

TEST_CASE("a list of pairs that begin with a name is an object, any other list an array") {
  CHECK(Json{{"a", 1}, {"b", {1, 2}}}.dump() == R"({"a":1,"b":[1,2]})");
  CHECK(Json{{"a", 1}, {2, "b"}}.dump() == R"([["a",1],[2,"b"]])");
  CHECK(Json::array({{"a", 1}}).dump() == R"([["a",1]])");
  CHECK(Json(std::vector<double>{0.5, 2}).dump() == "[0.5,2.0]");
}

TEST_CASE("an object keeps the order of its keys, and can be written with sorted ones") {
  Json json = Json::parse(R"({"b": 1, "a": {"d": 2, "c": 3}})");
  json["e"] = nullptr;
  CHECK(json.dump() == R"({"b":1,"a":{"d":2,"c":3},"e":null})");
  CHECK(json.dump_sorted() == R"({"a":{"c":3,"d":2},"b":1,"e":null})");
  CHECK(json.erase("b") == 1);
  CHECK(json.erase("b") == 0);
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + value.type_name() + " ";
  CHECK(keys == "aobject enull ");
}

TEST_CASE("numbers are written as they were read, and equal by value") {
  const std::string text = "[0,-1,18446744073709551615,-9223372036854775808,0.1,1e+300,-0.0]";
  CHECK(Json::parse(text).dump() == text);
  CHECK(Json(1) == Json(1.0));
  CHECK(Json(std::uint64_t{1}) == Json(std::int64_t{1}));
  CHECK(Json(1) != Json("1"));
  CHECK(Json(std::nan("")).dump() == "null");
  CHECK(Json::parse("7").is_number_unsigned());
  CHECK(!Json(7).is_number_unsigned());
  CHECK(Json(2.75).get<std::int64_t>() == 2);
  CHECK(Json(true).get<double>() == 1);
}

TEST_CASE("a text that is refused says where, a key that occurs twice included") {
  CHECK_THROWS_WITH_AS(Json::parse("{\"a\": 1,\n \"a\": 2}"), "line 2, column 2: key 'a' occurs twice",
                       Json::exception);
  CHECK_FALSE(Json::accept(R"({"a": {"b": 1, "b": 2}})"));
  CHECK(Json::accept(R"([{"a": 1}, {"a": 1}])"));
}

TEST_CASE("keys among many are found, added and erased as those among few") {
  Json json = Json::object();
  std::vector<std::string> keys;  // in the object's order
  const auto place_of = [&](const std::string& key) { return std::ranges::find(keys, key) - keys.begin(); };
  std::uint32_t draw = 1;
  for (int i = 0; i < 4000; ++i) {
    draw = draw * 1664525 + 1013904223;
    const std::string key = std::to_string(draw >> 24);
    if (draw >> 8 & 1 && place_of(key) < std::ssize(keys)) {
      keys.erase(keys.begin() + place_of(key));
      CHECK(json.erase(key) == 1);
    } else {
      if (place_of(key) == std::ssize(keys)) keys.push_back(key);
      json[key] = i;
    }
    REQUIRE(json.size() == keys.size());
    const std::string other = std::to_string(i % 256);
    REQUIRE(json.find(other) - json.begin() == place_of(other));
  }
  std::size_t place = 0;
  for (const auto& [key, value] : json.items()) CHECK(key == keys[place++]);
  CHECK(keys.size() > 50);
}

TEST_CASE("what is not there, or of another type, is an exception") {
  const Json json = {{"a", {1, 2}}};
  CHECK_THROWS_AS(json.at("b"), Json::exception);
  CHECK_THROWS_AS(json["b"], Json::exception);
  CHECK_THROWS_AS(json["a"].at(2), Json::exception);
  CHECK_THROWS_AS(json["a"].get<std::string>(), Json::exception);
  CHECK_THROWS_AS(json.at(0), Json::exception);
  CHECK_THROWS_AS(Json::parse("{"), Json::exception);
  CHECK_THROWS_AS(Json::parse(std::string("1\0", 2)), Json::exception);
  CHECK_FALSE(Json::accept(std::string("1\0", 2)));
  CHECK_THROWS_AS(Json("\xff").dump(), Json::exception);
  for (const double number : {1e300, -1e300, 0x1p63, std::nan("")})
    CHECK_THROWS_AS(Json(number).get<std::int64_t>(), Json::exception);
  CHECK_THROWS_AS(Json(std::uint64_t{1} << 63).get<std::int64_t>(), Json::exception);
  CHECK(Json(-0x1p63).get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(json.find("b") == json.end());
  CHECK(json["a"].find("b") == json["a"].end());
  CHECK(json.value("b", 3) == 3);
  CHECK(json.value("b", "none") == "none");
}

TEST_CASE("a value may be replaced by one that it contains") {
  Json json = Json::parse("[[[5, 6], [7]], 4]");
  json = json[0];
  CHECK(json == Json::parse("[[5, 6], [7]]"));
}

TEST_CASE("a text may be nested 100 levels deep, and no deeper") {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') +
           std::string(static_cast<std::size_t>(levels), ']');
  };
  CHECK(Json::accept(nested(100)));
  CHECK(Json::parse(nested(100)).is_array());
  CHECK(!Json::accept(nested(101)));
  CHECK_THROWS_AS(Json::parse(nested(100'000)), Json::exception);
  CHECK(Json::accept(R"({"a\"]": ")" + std::string(200, '[') + "\"}"));
}

TEST_CASE("a JSON Pointer finds a value below, or none") {
  const Json json = Json::parse(R"({"a": [10, {"b/c": 1, "~": 2}], "": 3})");
  CHECK(*json.find_pointer("") == json);
  CHECK(*json.find_pointer("/a/0") == 10);
  CHECK(*json.find_pointer("/a/1/b~1c") == 1);
  CHECK(*json.find_pointer("/a/1/~0") == 2);
  CHECK(*json.find_pointer("/") == 3);
  for (const char* pointer : {"/b", "/a/2", "/a/x", "/a/00", "/a/01", "/a/0/b"})
    CHECK(json.find_pointer(pointer) == nullptr);
}

TEST_CASE("objects are equal in any order of their keys") {
  const Json one = Json::parse(R"({"a": 1, "b": {"c": [1, 2], "d": null}})");
  CHECK(one == Json::parse(R"({"b": {"d": null, "c": [1, 2]}, "a": 1.0})"));
  for (const char* other :
       {R"({"b": {"d": null, "c": [2, 1]}, "a": 1})", R"({"b": {"d": null, "e": [1, 2]}, "a": 1})",
        R"({"a": 1, "b": {"c": [1, 2]}})", R"({"c": 1, "b": {"c": [1, 2], "d": null}})"})
    CHECK(one != Json::parse(other));
}

TEST_CASE("the first difference is named by its JSON Pointer") {
  const Json json = {{"a", {{"b", 1}, {"c", 2}}}};
  Json other = json;
  CHECK(json.first_difference(other) == "");
  other["a"]["c"] = 3;
  CHECK(json.first_difference(other) == "/a/c");
}
