#include "lagtape/core/io/safetensors.h"

#include <doctest/doctest.h>

#include <cstring>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tests/core/support/temporary_folder.h"

using namespace lagtape;

namespace {

SafetensorsFile sample() {
  return {.metadata = {{"version", "1"}, {"note", "line\nü \"q\""}},
          .tensors = {{"W", Tensor::from({2, 3}, {1, 2, 3, 4, 5, 6.5}, Dtype::f32)},
                      {"d", Tensor::from({1}, {1.0 / 3}, Dtype::f64)},
                      {"s", Tensor::scalar(-7, Dtype::f32)},
                      {"none", Tensor({0, 4}, Dtype::f32)}}};
}

// A file with a header and a buffer of zeros.
std::string file_of(const std::string& header, std::size_t buffer) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(buffer, '\0');
}

// The message about what is wrong with the bytes; empty when they are a valid file.
std::string refusal(const std::string& bytes) {
  try {
    parse_safetensors(bytes, "f");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("What is written to a safetensors file reads back, with f64 tensors first") {
  const TemporaryFolder folder;
  write_safetensors(folder / "w.safetensors", sample());
  const SafetensorsFile file = read_safetensors(folder / "w.safetensors");
  CHECK(file.metadata == sample().metadata);
  REQUIRE(file.tensors.size() == 4);
  CHECK(file.tensors[0].name == "d");
  CHECK(file.tensors[0].tensor.item() == 1.0 / 3);
  CHECK(file.tensors[1].name == "W");
  CHECK(file.tensors[1].tensor.shape() == Shape{2, 3});
  CHECK(file.tensors[1].tensor.dtype() == Dtype::f32);
  CHECK(file.tensors[1].tensor.at(5) == 6.5);
  CHECK(file.tensors[2].tensor.shape() == Shape{});
  CHECK(file.tensors[2].tensor.item() == -7);
  CHECK(file.tensors[3].tensor.shape() == Shape{0, 4});
}

TEST_CASE("The bytes of a safetensors file are those of the format") {
  const SafetensorsFile file{.metadata = {{"a", "b"}},
                             .tensors = {{"x", Tensor::from({2}, {1, -2}, Dtype::f32)}}};
  const std::string header =
      R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string expected = file_of(header + std::string((8 - header.size() % 8) % 8, ' '), 0);
  expected += std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);  // 1 and -2
  CHECK(serialize_safetensors(file) == expected);
  CHECK(serialize_safetensors(parse_safetensors(expected, "f")) == expected);
}

TEST_CASE("Files that the format does not allow to be written are refused") {
  const Tensor one = Tensor::scalar(1, Dtype::f32);
  CHECK_THROWS_AS(serialize_safetensors({{}, {{"a", one}, {"a", one}}}), InputError);
  CHECK_THROWS_AS(serialize_safetensors({{}, {{"__metadata__", one}}}), InputError);
  CHECK_THROWS_AS(serialize_safetensors({{}, {{"a", Tensor()}}}), InputError);
  CHECK_THROWS_AS(serialize_safetensors({{}, {{"\xff", one}}}), InputError);
  CHECK_THROWS_AS(serialize_safetensors({{{"a", "\xff"}}, {}}), InputError);
}

TEST_CASE("A tensor that does not fit its bytes is refused with its name") {
  const auto header = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return text_of(R"({"w":{"dtype":)", dtype, R"(,"shape":)", shape, R"(,"data_offsets":)", offsets, "}}");
  };
  const auto of = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return refusal(file_of(header(dtype, shape, offsets), 24));
  };
  CHECK(of("\"F32\"", "[2,3]", "[0,24]") == "");
  CHECK(of("\"F64\"", "[3]", "[0,24]") == "");
  CHECK(of("\"F16\"", "[12]", "[0,24]") == "f: tensor 'w': dtype \"F16\", expected \"F32\" or \"F64\"");
  CHECK(of("\"F32\"", "[2,4]", "[0,24]") == "f: tensor 'w': f32 [2, 4] takes 32 bytes, and has 24");
  CHECK(contains(of("3", "[2,3]", "[0,24]"), "dtype 3"));
  CHECK(contains(of("\"F32\"", "[2,-3]", "[0,24]"), "non-negative"));
  CHECK(contains(of("\"F32\"", "[2,3.0]", "[0,24]"), "non-negative"));
  CHECK(contains(of("\"F32\"", "6", "[0,24]"), "not an array"));
  CHECK(contains(of("\"F32\"", "[4294967296,4294967296]", "[0,24]"), "too large"));
  CHECK(contains(of("\"F32\"", "[4611686018427387905,4]", "[0,24]"), "too large"));
  CHECK(contains(of("\"F32\"", "[18446744073709551615]", "[0,24]"), "non-negative"));
  CHECK(contains(of("\"F32\"", "[5]", "[0,20]"), "end at byte 20, the data at 24"));
  CHECK(contains(of("\"F32\"", "[5]", "[4,24]"), "start at 0"));
  CHECK(contains(of("\"F32\"", "[7]", "[0,28]"), "is cut off: it has 87 bytes, its header promises 91"));
  CHECK(contains(of("\"F32\"", "[6]", "[24,0]"), "data_offsets"));
  CHECK(contains(of("\"F32\"", "[6]", "[0]"), "data_offsets"));
  CHECK(contains(of("\"F32\"", "[6]", "[0,24,24]"), "data_offsets"));
}

TEST_CASE("Holes, overlaps, strange keys and names that occur twice are refused") {
  const auto entry = [](const std::string& name, int begin, int end) {
    return text_of('"', name, R"(":{"dtype":"F32","shape":[)", (end - begin) / 4, R"(],"data_offsets":[)",
                   begin, ',', end, "]}");
  };
  const auto of = [&](const std::string& a, const std::string& b) {
    return refusal(file_of("{" + a + "," + b + "}", 16));
  };
  CHECK(of(entry("a", 0, 8), entry("b", 8, 16)) == "");
  CHECK(of(entry("b", 8, 16), entry("a", 0, 8)) == "");
  CHECK(
      contains(of(entry("a", 0, 4), entry("b", 8, 16)), "tensor 'b': bytes 8 to 16, expected to start at 4"));
  CHECK(contains(of(entry("a", 0, 12), entry("b", 8, 16)), "expected to start at 12"));
  CHECK(contains(of(entry("a", 0, 8), entry("a", 8, 16)), "key 'a' occurs twice"));
  CHECK(contains(refusal(file_of(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"x":1}})", 4)),
                 "a key other"));
  CHECK(contains(refusal(file_of(R"({"a":{"dtype":"F32","shape":[]}})", 4)), "no data_offsets"));
  CHECK(contains(refusal(file_of(R"({"a":1})", 0)), "not an object"));
  CHECK(contains(refusal(file_of(R"({"__metadata__":{"a":1}})", 0)), "__metadata__ 'a' is not a string"));
  CHECK(refusal(file_of("[]", 0)) == "f: not a safetensors file (10 bytes)");
  CHECK(contains(refusal(file_of("{", 0)), "header: line 1, column 2"));
}

TEST_CASE("A header longer than the file is refused before anything is allocated") {
  std::string bytes = serialize_safetensors(sample());
  bytes[7] = '\x7f';
  CHECK(refusal(bytes) == text_of("f: not a safetensors file (", bytes.size(), " bytes)"));
  CHECK(refusal(std::string(8, '\xff')) == "f: not a safetensors file (8 bytes)");
}

TEST_CASE("A safetensors file cut off anywhere is refused") {
  const std::string bytes = serialize_safetensors(sample());
  REQUIRE(refusal(bytes) == "");
  CHECK(refusal(bytes.substr(0, bytes.size() - 1)) ==
        text_of("f: is cut off: it has ", bytes.size() - 1, " bytes, its header promises ", bytes.size()));
  std::uint64_t header_length = 0;
  std::memcpy(&header_length, bytes.data(), 8);
  CHECK(refusal(bytes.substr(0, 99)) ==
        text_of("f: is cut off: it has 99 bytes, its header alone takes ", 8 + header_length));
  CHECK(refusal("") == "f: expected a safetensors file, got an empty file");
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(refusal(bytes.substr(0, n)) != "");
  CHECK(refusal(bytes + '\0') != "");
}

TEST_CASE("A bit flipped in the header gives a file or a message, never anything else") {
  const std::string bytes = serialize_safetensors(sample());
  std::uint64_t header_length = 0;
  std::memcpy(&header_length, bytes.data(), 8);
  int refused = 0;
  for (std::size_t i = 0; i < 8 + header_length; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      refused += refusal(flipped) != "";
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("A reader hands every tensor out once, of the right form, and refuses leftovers") {
  const auto reader = [] { return TensorReader(sample(), "w.safetensors"); };
  TensorReader whole = reader();
  CHECK(whole.metadata().at("version") == "1");
  CHECK(whole.take("W", {2, 3}, Dtype::f32).at(5) == 6.5);
  CHECK_FALSE(whole.contains("W"));
  CHECK(whole.contains("s"));
  CHECK_THROWS_WITH_AS(whole.finish(), "w.safetensors: tensors that nothing here uses: d, s, none",
                       InputError);
  for (const char* name : {"d", "s", "none"}) whole.take(name);
  CHECK_NOTHROW(whole.finish());
  CHECK_THROWS_WITH_AS(whole.take("d"), "w.safetensors: tensor 'd' is used twice", InputError);

  CHECK_THROWS_WITH_AS(reader().take("W", {3, 2}, Dtype::f32),
                       "w.safetensors: tensor 'W': expected f32 [3, 2], got f32 [2, 3]", InputError);
  CHECK_THROWS_AS(reader().take("W", {2, 3}, Dtype::f64), InputError);
  CHECK_THROWS_WITH_AS(reader().take("nones"),
                       "w.safetensors: tensor 'nones' is missing; the nearest name in the file is 'none'",
                       InputError);
  CHECK_THROWS_WITH_AS(
      reader().take("nones", {2}, Dtype::f32),
      "w.safetensors: tensor 'nones' is missing, expected f32 [2]; the nearest name in the file is 'none'",
      InputError);
}
