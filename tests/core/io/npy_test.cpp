#include "lagtape/core/io/npy.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/core/support/temporary_folder.h"

using namespace lagtape;

namespace {

std::string npy_of(const std::string& header, const std::string& data, int major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  const int length_bytes = major == 1 ? 2 : 4;
  for (int i = 0; i < length_bytes; ++i) bytes += static_cast<char>(header.size() >> 8 * i);
  return bytes + header + data;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy_of(text_of("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }\n"), data);
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

std::string refusal(const std::string& bytes) {
  try {
    parse_npy(bytes, "f");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("The bytes are those that numpy.save writes") {
  // numpy.save of numpy.array([[1, 2, 3]], dtype="<f4")
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
  const std::string expected =
      npy_of(header + std::string(128 - 10 - header.size() - 1, ' ') + "\n", bytes_of<float>({1, 2, 3}));
  CHECK(serialize_npy(Tensor::from({1, 3}, {1, 2, 3}, Dtype::f32)) == expected);
}

TEST_CASE("Tensors of every rank and type read back") {
  const TemporaryFolder folder;
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const Shape& shape : {Shape{}, Shape{6}, Shape{2, 3}, Shape{1, 2, 3}, Shape{0, 3}, Shape(20, 1)}) {
      Tensor tensor(shape, dtype);
      for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, 0.1 * static_cast<double>(i) - 0.2);
      write_npy(folder / "a.npy", tensor);
      const Tensor back = read_npy(folder / "a.npy");
      CHECK(back.shape() == shape);
      CHECK(back.dtype() == dtype);
      for (std::int64_t i = 0; i < tensor.numel(); ++i) CHECK(back.at(i) == tensor.at(i));
    }
  }
  CHECK_THROWS_AS(serialize_npy(Tensor()), InputError);
}

TEST_CASE("Integers are read as floating-point numbers that hold them exactly") {
  const Tensor i4 = parse_npy(npy("<i4", "(2,)", bytes_of<std::int32_t>({-5, 2'000'000'001})), "f");
  CHECK(i4.dtype() == Dtype::f64);
  CHECK(i4.at(0) == -5);
  CHECK(i4.at(1) == 2'000'000'001);
  const Tensor u1 = parse_npy(npy("|u1", "(2,)", bytes_of<std::uint8_t>({0, 255})), "f");
  CHECK(u1.dtype() == Dtype::f32);
  CHECK(u1.at(1) == 255);
  const std::int64_t exact = std::int64_t{1} << 53;
  CHECK(parse_npy(npy("<i8", "(1,)", bytes_of<std::int64_t>({-exact})), "f").at(0) ==
        -static_cast<double>(exact));
  CHECK(refusal(npy("<i8", "(2,)", bytes_of<std::int64_t>({0, exact + 1}))) ==
        "f: element 1 is too large for an f64: 9007199254740993");
}

TEST_CASE("Short integers, bools and halves are read as floats that hold them exactly") {
  CHECK(parse_npy(npy("|b1", "(2,)", bytes_of<std::uint8_t>({0, 1})), "f").at(1) == 1);
  CHECK(parse_npy(npy("|i1", "(1,)", bytes_of<std::int8_t>({-128})), "f").at(0) == -128);
  CHECK(parse_npy(npy("<i2", "(1,)", bytes_of<std::int16_t>({-32768})), "f").at(0) == -32768);
  CHECK(parse_npy(npy("<u2", "(1,)", bytes_of<std::uint16_t>({65535})), "f").at(0) == 65535);
  const Tensor u4 = parse_npy(npy("<u4", "(1,)", bytes_of<std::uint32_t>({4'294'967'295})), "f");
  CHECK(u4.dtype() == Dtype::f64);
  CHECK(u4.at(0) == 4'294'967'295.0);
  CHECK(refusal(npy("<u8", "(1,)", bytes_of<std::uint64_t>({~std::uint64_t{0}}))) ==
        "f: element 0 is too large for an f64: 18446744073709551615");
  // Every half: sign, 5 bits of exponent, 10 of mantissa.
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double expected = exponent == 0    ? std::ldexp(mantissa, -24)
                      : exponent == 31 ? mantissa == 0 ? INFINITY : NAN
                                       : std::ldexp(1024 + mantissa, exponent - 25);
    if (bits >> 15 != 0) expected = -expected;
    const double found =
        parse_npy(npy("<f2", "(1,)", bytes_of<std::uint16_t>({static_cast<std::uint16_t>(bits)})), "f").at(0);
    if (found != expected && !(std::isnan(found) && std::isnan(expected))) FAIL(bits);
  }
}

TEST_CASE("Headers in another order, in other quotes and in format 2.0 are read") {
  const std::string header = "{\"shape\": (2,), \"fortran_order\":False,\"descr\":\"<f4\"}";
  for (int major : {1, 2}) {
    CHECK(parse_npy(npy_of(header, bytes_of<float>({1, 2}), major), "f").at(1) == 2);
  }
}

TEST_CASE("What is not supported is refused with what was found") {
  CHECK(contains(refusal(npy(">f4", "(1,)", "abcd")),
                 "expected a dtype of floats, integers or bools, little endian, got '>f4'. Convert"));
  CHECK(contains(refusal(npy("<c8", "(1,)", "abcdefgh")), "got '<c8'"));
  CHECK(contains(refusal(npy_of("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }\n", "abcd")),
                 "Fortran"));
  CHECK(contains(
      refusal(npy_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "abcd")),
      "header is not"));
  CHECK(contains(refusal(npy_of("{}", "")), "header is not"));
  CHECK(contains(refusal(npy("<f4", "(3)", bytes_of<float>({1, 2, 3}))), "header is not"));
  CHECK(contains(refusal(npy("<f4", "(-3,)", "")), "header is not"));
  CHECK(contains(refusal(npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (), } x", "abcd")),
                 "header is not"));
  CHECK(contains(refusal("PK\x03\x04 a zip archive"), "not a .npy file"));
  std::string future = npy("<f4", "(1,)", "abcd");
  future[6] = '\x03';
  CHECK(refusal(future) == "f: expected .npy format 1.0 or 2.0, got 3.0");
}

TEST_CASE("A file's first bytes tell its size") {
  const std::string bytes = serialize_npy(Tensor::from({2, 2}, {1, 2, 3, 4}, Dtype::f64));
  for (std::size_t n : {std::size_t{10}, std::size_t{100}, std::size_t{127}})
    CHECK(!npy_size(bytes.substr(0, n), "f"));
  for (std::size_t n : {std::size_t{128}, bytes.size()})
    CHECK(npy_size(bytes.substr(0, n), "f") == bytes.size());
  CHECK(npy_size(npy("<f8", "(1000000000000,)", ""), "f") > 8'000'000'000'000u);
  CHECK_THROWS_AS(npy_size("PK\x03\x04 a zip archive", "f"), InputError);
}

TEST_CASE("Sizes are exact") {
  CHECK(refusal(npy("<f4", "(2,)", "abcd")) == "f: '<f4' [2] takes 8 bytes, and has 4");
  CHECK(refusal(npy("<f4", "(1,)", "abcdefgh")) == "f: '<f4' [1] takes 4 bytes, and has 8");
  CHECK(contains(refusal(npy("<f8", "(4294967296, 4294967296)", "")), "too large"));
  CHECK(contains(refusal(npy("<f8", "(99999999999999999999,)", "")), "header is not"));
  CHECK(contains(refusal(npy("<f8", "(1000000000000,)", "")), "takes 8000000000000 bytes"));
}

TEST_CASE("A .npy file cut off anywhere, or with a bit flipped in the header, never crashes") {
  const std::string bytes = serialize_npy(Tensor::from({2, 2}, {1, 2, 3, 4}, Dtype::f64));
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(refusal(bytes.substr(0, n)) != "");
  int refused = 0;
  for (std::size_t i = 0; i < 128; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      refused += refusal(flipped) != "";
    }
  }
  CHECK(refused > 500);
}
