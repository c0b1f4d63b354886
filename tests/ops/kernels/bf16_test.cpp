#include <doctest/doctest.h>

#include <bit>

#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

// The instruction's description in plain code: sums in doubles, rounded to floats one after another.

float without_subnormal(float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }

/// To nearest, ties to even, by counting in units of the eighth significant bit.
float rounded(float x) {
  if (!std::isfinite(x) || without_subnormal(x) == 0) return without_subnormal(x);
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8));
}

float added(float sum, float a, float b) {
  const double exact = static_cast<double>(a) * b + without_subnormal(sum);
  if (std::fabs(exact) < 0x1p-126 - 0x1p-151) return static_cast<float>(std::copysign(0.0, exact));
  return static_cast<float>(exact);
}

/// Mistakes that the tests must notice.
enum class Mistake { none, other_order, subnormals, not_rounded };

/// sum + a0 b0 + a1 b1
float pair_added(float sum, float a0, float b0, float a1, float b1, Mistake mistake) {
  if (mistake == Mistake::other_order) return added(added(sum, a0, b0), a1, b1);
  if (mistake == Mistake::subnormals)
    return static_cast<float>(static_cast<double>(a0) * b0 +
                              static_cast<float>(static_cast<double>(a1) * b1 + sum));
  return added(added(sum, a1, b1), a0, b0);
}

/// Kernels whose products in bf16 must have the same bits.
std::vector<const Kernels<float>*> tables() {
  std::vector<const Kernels<float>*> all;
  for (const SimdLevel level : supported_levels()) all.push_back(&bf16_emulation<float>(level));
  if (has_bf16_instruction()) {
    all.push_back(&kernels<float>(SimdLevel::avx512, ProductFormat::bf16));
    REQUIRE(all.back() != &bf16_emulation<float>(SimdLevel::avx512));
  } else {
    MESSAGE("this processor has no avx512_bf16: the emulations are compared with plain code alone");
  }
  return all;
}

/// A number of one of the classes that arithmetic distinguishes.
float special(std::mt19937_64& generator) {
  const auto bits = static_cast<std::uint32_t>(generator());
  const auto with_exponent = [&](std::uint32_t first, std::uint32_t count) {
    return std::bit_cast<float>((bits & 0x807FFFFFU) | (first + bits % 97 % count) << 23);
  };
  switch (generator() % 9) {
    case 0: return std::bit_cast<float>(bits);
    case 1: return with_exponent(0, 1);                                     // subnormal
    case 2: return std::bit_cast<float>(bits & 0x80000000);                 // zero
    case 3: return std::bit_cast<float>((bits & 0x80000000) | 0x7F800000);  // infinite
    case 4: return with_exponent(62, 4);                                    // products near the least number
    case 5: return with_exponent(189, 4);                                   // products near the largest
    case 6: return with_exponent(1, 3);
    case 7: return with_exponent(252, 3);
    default: return with_exponent(120, 14);
  }
}

std::string first_difference(const std::vector<float>& got, const std::vector<float>& expected) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
    if (std::bit_cast<std::uint32_t>(got[i]) != std::bit_cast<std::uint32_t>(expected[i]))
      return text_of("element ", i, ": ", got[i], " where ", expected[i], " was expected");
  }
  return "";
}

/// Sums of one pair in a matrix of gradients, every element its own case: w + d0 x0 + d1 x1.
struct Pairs {
  static constexpr std::int64_t kSize = 96;
  std::vector<float> w, d, x;

  explicit Pairs(unsigned seed) {
    std::mt19937_64 generator(seed);
    for (std::int64_t i = 0; i < kSize * kSize; ++i) w.push_back(special(generator));
    for (std::int64_t i = 0; i < 2 * kSize; ++i) d.push_back(special(generator));
    for (std::int64_t i = 0; i < 2 * kSize; ++i) x.push_back(special(generator));
    // Cancellation: a sum that is the negative of what is added, or next to it.
    for (std::int64_t i = 0; i < kSize * kSize; i += 3) {
      const double product =
          static_cast<double>(rounded(d[kSize + i / kSize])) * rounded(x[kSize + i % kSize]);
      w[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(-product)) +
                                  std::uint32_t(i % 2));
    }
  }
  std::vector<float> run(const Kernels<float>& table) const {
    std::vector<float> result = w;
    const OuterProduct<float> product{result.data(), kSize, {d.data(), kSize}, x.data(), kSize, kSize, kSize};
    table.add_outer_products(&product, 1, 2);
    return result;
  }
  std::vector<float> expected(Mistake mistake = Mistake::none) const {
    std::vector<float> result = w;
    const auto round = [&](float number) {
      return mistake == Mistake::not_rounded ? number : rounded(number);
    };
    for (std::int64_t i = 0; i < kSize * kSize; ++i) {
      const std::int64_t r = i / kSize, c = i % kSize;
      result[i] =
          pair_added(w[i], round(d[r]), round(x[c]), round(d[kSize + r]), round(x[kSize + c]), mistake);
    }
    return result;
  }
};

struct Factors {
  std::int64_t rows, k, columns;
  bool special_numbers = false;

  Aligned<float> left() const { return numbers(rows, k, padded<float>(k), 1); }
  Aligned<float> right() const { return numbers(k, columns, columns, 2); }
  Aligned<float> numbers(std::int64_t n, std::int64_t width, std::int64_t stride, unsigned seed) const {
    Aligned<float> values = random_rows<float>(n, width, stride, seed);
    std::mt19937_64 generator(seed);
    for (std::int64_t i = 0; special_numbers && i < n; ++i)
      for (std::int64_t j = 0; j < width; ++j)
        if (generator() % 16 == 0) values[i * stride + j] = special(generator);
    return values;
  }
  std::vector<float> run(const Kernels<float>& table, bool descending = false) const {
    const Aligned<float> a = left(), b = right();
    Aligned<float> packed(packed_elements<float>(k, columns));
    table.pack(packed.data(), b.data(), k, columns, columns, 1);
    // The inner dimension in two operands, with the second from an odd place on.
    const std::int64_t first = k > 4 ? 3 : 0, stride = padded<float>(k);
    ProductCase<float> product{rows, columns, {{a.data() + first, stride, k - first}}, descending};
    if (first > 0) product.operands.insert(product.operands.begin(), {a.data(), stride, first});
    Aligned<float> out = product.run(table, packed);
    // The columns of the padding are infinity times zero where an operand is infinite.
    for (std::int64_t i = 0; special_numbers && i < out.size(); ++i)
      if (i % padded<float>(columns) >= columns) out[i] = 0;
    return {out.data(), out.data() + out.size()};
  }
  std::vector<float> expected(Mistake mistake = Mistake::none) const {
    const Aligned<float> a = left(), b = right();
    const auto round = [&](float number) {
      return mistake == Mistake::not_rounded ? number : rounded(number);
    };
    std::vector<float> result(rows * padded<float>(columns));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        float& sum = result[i * padded<float>(columns) + j];
        for (std::int64_t e = 0; e < k; e += 2) {
          const bool pair = e + 1 < k;
          sum = pair_added(sum, round(a[i * padded<float>(k) + e]), round(b[e * columns + j]),
                           pair ? round(a[i * padded<float>(k) + e + 1]) : 0,
                           pair ? round(b[(e + 1) * columns + j]) : 0, mistake);
        }
      }
    }
    return result;
  }
};

}  // namespace

TEST_CASE("in bf16 a number is rounded to the nearest, ties to even, over all classes of numbers") {
  std::mt19937_64 generator(1);
  Aligned<float> x(4096), one(1);
  one[0] = 1;
  std::vector<float> expected;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x[i] = special(generator);
    if (i % 2 == 0) {  // ties, and the floats beside them
      const std::uint32_t tie = (std::bit_cast<std::uint32_t>(x[i]) & 0xFFFF0000) | 0x8000;
      x[i] = std::bit_cast<float>(tie + static_cast<std::uint32_t>(i / 2 % 3) - 1);
    }
    expected.push_back(0.0F + rounded(x[i]));  // the product is a sum that begins with zero
  }
  CHECK(rounded(std::bit_cast<float>(0x3F808000)) == 1.0F);
  CHECK(rounded(std::bit_cast<float>(0x3F818000)) == std::bit_cast<float>(0x3F820000));
  CHECK(rounded(std::bit_cast<float>(0x7F7FFFFF)) == std::numeric_limits<float>::infinity());
  for (const Kernels<float>* table : tables()) {
    CAPTURE(name_of(table->level));
    Aligned<float> packed(packed_elements<float>(1, 1));
    table->pack(packed.data(), one.data(), 1, 1, 1, 1);
    const Aligned<float> left = ProductCase<float>{x.size(), 1, {{x.data(), 1, 1}}}.run(*table, packed);
    // As weights: one row of them.
    Aligned<float> weights(packed_elements<float>(1, x.size()));
    table->pack(weights.data(), x.data(), 1, x.size(), x.size(), 1);
    const Aligned<float> right = ProductCase<float>{1, x.size(), {{one.data(), 1, 1}}}.run(*table, weights);
    std::vector<float> as_left, as_right;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      as_left.push_back(left[i * kLane<float>]);
      as_right.push_back(right[i]);
    }
    CHECK(first_difference(as_left, expected) == "");
    CHECK(first_difference(as_right, expected) == "");
  }
}

TEST_CASE("saved numbers are rounded to bf16, and come back as they were rounded") {
  std::mt19937_64 generator(2);
  Aligned<float> x(4096), restored(4096);
  std::vector<float> expected;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    x[i] = special(generator);
    if (i % 2 == 0) x[i] = std::bit_cast<float>((std::bit_cast<std::uint32_t>(x[i]) & 0xFFFF0000) | 0x8000);
    expected.push_back(rounded(x[i]));
  }
  for (const Kernels<float>* table : tables()) {
    CAPTURE(name_of(table->level));
    std::vector<std::uint16_t> saved(4096);
    table->save(saved.data(), x.data(), x.size());
    table->restore(restored.data(), saved.data(), x.size());
    CHECK(first_difference({restored.data(), restored.data() + restored.size()}, expected) == "");
  }
  CHECK(first_difference({x.data(), x.data() + x.size()}, expected) != "");
}

TEST_CASE("the sum of a pair has the instruction's bits over all classes of operands") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Pairs pairs(seed);
    for (const Kernels<float>* table : tables()) {
      CAPTURE(name_of(table->level));
      CHECK(first_difference(pairs.run(*table), pairs.expected()) == "");
    }
    CHECK(first_difference(pairs.expected(Mistake::other_order), pairs.expected()) != "");
    CHECK(first_difference(pairs.expected(Mistake::subnormals), pairs.expected()) != "");
    CHECK(first_difference(pairs.expected(Mistake::not_rounded), pairs.expected()) != "");
  }
}

TEST_CASE("a product in bf16 is one chain of pairs, whatever the kernels and the number of rows") {
  const Factors shapes[] = {{1, 1, 1},     {1, 5, 16},     {2, 3, 40},    {3, 17, 130},       {5, 9, 8},
                            {7, 31, 33},   {12, 16, 16},   {14, 7, 17},   {29, 3, 100},       {37, 64, 72},
                            {1, 128, 512}, {16, 128, 384}, {700, 97, 40}, {40, 33, 90, true}, {3, 2048, 16}};
  for (const Factors& factors : shapes) {
    CAPTURE(factors.rows);
    CAPTURE(factors.k);
    CAPTURE(factors.columns);
    const std::vector<float> expected = factors.expected();
    for (const Kernels<float>* table : tables()) {
      CAPTURE(name_of(table->level));
      CHECK(first_difference(factors.run(*table), expected) == "");
      if (factors.rows == 1) CHECK(first_difference(factors.run(*table, true), expected) == "");
    }
    if (factors.k > 1) CHECK(first_difference(factors.expected(Mistake::not_rounded), expected) != "");
    if (factors.k > 9) CHECK(first_difference(factors.expected(Mistake::other_order), expected) != "");
  }
}

TEST_CASE("gradients in bf16 are chains of pairs of rows, with a last row that may be alone") {
  struct Sizes {
    std::int64_t rows, m, n;
  };
  for (const Sizes& sizes : {Sizes{1, 3, 4}, Sizes{2, 16, 16}, Sizes{7, 33, 5}, Sizes{300, 40, 70},
                             Sizes{261, 130, 3}, Sizes{1024, 17, 40}}) {
    const std::int64_t rows = sizes.rows, m = sizes.m, n = sizes.n;
    CAPTURE(rows);
    CAPTURE(m);
    const std::int64_t ldd = padded<float>(m), ldx = padded<float>(n);
    const Aligned<float> d = random_rows<float>(rows, m, ldd, 1), x = random_rows<float>(rows, n, ldx, 2);
    const Aligned<float> w = random_rows<float>(m, n, n, 3);
    std::vector<float> expected(w.data(), w.data() + w.size());
    for (std::int64_t i = 0; i < m * n; ++i) {
      for (std::int64_t r = 0; r < rows; r += 2) {
        const bool pair = r + 1 < rows;
        expected[i] = pair_added(expected[i], rounded(d[r * ldd + i / n]), rounded(x[r * ldx + i % n]),
                                 pair ? rounded(d[(r + 1) * ldd + i / n]) : 0,
                                 pair ? rounded(x[(r + 1) * ldx + i % n]) : 0, Mistake::none);
      }
    }
    for (const Kernels<float>* table : tables()) {
      CAPTURE(name_of(table->level));
      std::vector<float> got(w.data(), w.data() + w.size());
      const OuterProduct<float> product{got.data(), n, {d.data(), ldd}, x.data(), ldx, m, n};
      table->add_outer_products(&product, 1, rows);
      CHECK(first_difference(got, expected) == "");
    }
  }
}

namespace {

/// Rows of rounded numbers, and the same numbers as floats.
struct RoundedRows {
  std::vector<std::uint16_t> saved;
  Aligned<float> numbers;

  RoundedRows(std::int64_t rows, std::int64_t width, std::int64_t stride, unsigned seed)
      : saved(static_cast<std::size_t>(rows * stride)),
        numbers(random_rows<float>(rows, width, stride, seed)) {
    const Kernels<float>& table = bf16_emulation<float>(SimdLevel::generic);
    table.save(saved.data(), numbers.data(), numbers.size());
    table.restore(numbers.data(), saved.data(), numbers.size());
  }
  const float* as_rounded() const { return reinterpret_cast<const float*>(saved.data()); }
};

}  // namespace

TEST_CASE("in bf16 rounded rows give the bits of the numbers that they hold") {
  for (const std::int64_t width : {1, 2, 7, 16, 33, 128}) {
    CAPTURE(width);
    const std::int64_t rows = 301, columns = 40, stride = padded<float>(width), ldx = padded<float>(columns);
    const RoundedRows a(rows, width, stride, 1), more(rows, width, stride, 4);
    const Aligned<float> x = random_rows<float>(rows, columns, ldx, 2);
    const Aligned<float> b = random_rows<float>(2 * width, columns, columns, 3);
    for (const Kernels<float>* table : tables()) {
      CAPTURE(name_of(table->level));
      Aligned<float> packed(packed_elements<float>(2 * width, columns));
      table->pack(packed.data(), b.data(), 2 * width, columns, columns, 1);
      const auto product = [&](bool first, bool second) {
        const Aligned<float> out = ProductCase<float>{
            rows,
            columns,
            {{first ? a.as_rounded() : a.numbers.data(), stride, width, first},
             {second ? more.as_rounded() : more.numbers.data(), stride, width,
              second}}}.run(*table, packed);
        return std::vector<float>(out.data(), out.data() + out.size());
      };
      const std::vector<float> expected = product(false, false);
      CHECK(first_difference(product(true, true), expected) == "");
      CHECK(first_difference(product(true, false), expected) == "");
      CHECK(first_difference(product(false, true), expected) == "");

      // Two gradients with the same x, and one with another.
      const auto gradients = [&](bool rounded) {
        std::vector<float> w(static_cast<std::size_t>(2 * width * columns + width * width), 0.5F);
        float* const second = w.data() + width * columns;
        const auto left = [&](const RoundedRows& d) {
          return MatrixRows<float>{rounded ? d.as_rounded() : d.numbers.data(), stride, rounded};
        };
        const OuterProduct<float> products[] = {
            {w.data(), columns, left(a), x.data(), ldx, width, columns},
            {second, columns, left(more), x.data(), ldx, width, columns},
            {second + width * columns, width, left(a), more.numbers.data(), stride, width, width}};
        table->add_outer_products(products, 3, rows);
        return w;
      };
      CHECK(first_difference(gradients(true), gradients(false)) == "");

      const auto sums = [&](bool rounded) {
        std::vector<float> w(static_cast<std::size_t>(3 * width), 0.5F);
        static constexpr float one = 1;
        const MatrixRows<float> left{rounded ? a.as_rounded() : a.numbers.data(), stride, rounded};
        const ScaledSum<float> all[] = {
            {w.data(), 1, width, left, x.data(), ldx},
            {w.data() + width, 1, width, left, &one, 0},
            {w.data() + 2 * width, 1, width, {more.numbers.data(), stride}, x.data(), ldx}};
        table->add_scaled_sums(all, 3, rows);
        return w;
      };
      CHECK(first_difference(sums(true), sums(false)) == "");
      CHECK(first_difference(sums(true), std::vector<float>(static_cast<std::size_t>(3 * width), 0.5F)) !=
            "");
    }
  }
}
