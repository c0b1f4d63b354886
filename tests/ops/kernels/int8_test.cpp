#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "lagtape/ops/kernels/int8.h"
#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

/// Kernels whose quantized products must have the same bits.
std::vector<const Kernels<float>*> tables() {
  std::vector<const Kernels<float>*> all;
  for (const SimdLevel level : supported_levels()) all.push_back(&int8_emulation(level));
  if (has_int8_instruction()) {
    all.push_back(&kernels<float>(SimdLevel::avx512, ProductFormat::int8));
    REQUIRE(all.back() != &int8_emulation(SimdLevel::avx512));
  } else {
    MESSAGE("this processor has no avx512_vnni: plain integers are compared with an oracle alone");
  }
  return all;
}

/// Mistakes that the tests must notice.
enum class Mistake { none, truncates, one_scale };

int quantized(float x, float steps_per_unit, Mistake mistake) {
  const double steps = static_cast<double>(x * steps_per_unit);
  const double whole = mistake == Mistake::truncates ? std::trunc(steps) : std::nearbyint(steps);
  return static_cast<int>(std::fmin(127, std::fmax(-127, whole)));
}

struct Factors {
  std::int64_t rows, k, columns;
  float range = 0.75F;  // smaller than the largest number, which is 1
  bool has_nan = false;

  Aligned<float> left() const {
    Aligned<float> values = random_rows<float>(rows, k, padded<float>(k), 1);
    if (has_nan) values[(rows - 1) * padded<float>(k) + k - 1] = std::numeric_limits<float>::quiet_NaN();
    return values;
  }
  Aligned<float> right() const { return random_rows<float>(k, columns, columns, 2); }

  std::vector<float> run(const Kernels<float>& table) const {
    const Aligned<float> a = left(), b = right();
    Aligned<float> packed(packed_elements<float>(k, columns));
    Int8Matrix(packed.data(), k, padded<float>(columns)).set_range(range);
    table.pack(packed.data(), b.data(), k, columns, columns, 1);
    const ProductCase<float> product{rows, columns, {{a.data(), padded<float>(k), k}}};
    const Aligned<float> out = product.run(table, packed);
    return {out.data(), out.data() + out.size()};
  }
  std::vector<float> expected(Mistake mistake = Mistake::none) const {
    const Aligned<float> a = left(), b = right();
    std::vector<float> result(static_cast<std::size_t>(rows * padded<float>(columns)));
    for (std::int64_t j = 0; j < columns; ++j) {
      float most = 0;
      for (std::int64_t e = 0; e < k; ++e) most = std::fmax(most, std::fabs(b[e * columns + j]));
      if (mistake == Mistake::one_scale) most = 1;
      const float scale = most / 127;
      for (std::int64_t i = 0; i < rows; ++i) {
        std::int64_t sum = 0;
        bool finite = true;
        for (std::int64_t e = 0; e < k; ++e) {
          const float x = a[i * padded<float>(k) + e];
          finite = finite && std::isfinite(x);
          const auto weight =
              static_cast<int>(std::nearbyint(static_cast<double>(b[e * columns + j] / scale)));
          sum += std::isfinite(x) ? std::int64_t{quantized(x, 127 / range, mistake)} * weight : 0;
        }
        result[static_cast<std::size_t>(i * padded<float>(columns) + j)] =
            finite ? static_cast<float>(sum) * (scale * (range / 127))
                   : std::numeric_limits<float>::quiet_NaN();
      }
    }
    return result;
  }
};

std::string difference(const std::vector<float>& got, const std::vector<float>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
    if (!(got[i] == expected[i]))
      return text_of("element ", i, ": ", got[i], " where ", expected[i], " was expected");
  }
  return "";
}

}  // namespace

TEST_CASE("products in int8 have the bits of plain quantized arithmetic") {
  for (const Factors& f : {Factors{1, 64, 64},
                           {1, 65, 80},
                           {3, 67, 64},
                           {4, 128, 512},
                           {17, 130, 96},
                           {1, 64, 64, 2.0F},
                           {2, 9000, 64},
                           {1, 2048, 64}})
    for (const Kernels<float>* table : tables()) {
      CAPTURE(name_of(table->level));
      CAPTURE(f.k);
      CHECK(difference(f.run(*table), f.expected()) == "");
    }
}

TEST_CASE("an operand that is not finite makes its row's sums NaN, and no other row's") {
  for (const Kernels<float>* table : tables()) {
    const Factors f{.rows = 3, .k = 66, .columns = 64, .has_nan = true};
    const std::vector<float> got = f.run(*table);
    CHECK(difference(got, f.expected()) == "");
    CHECK(std::isnan(got.back()));
    CHECK(std::isfinite(got.front()));
  }
}

TEST_CASE("smaller products than int8 takes are those of the level") {
  for (const SimdLevel level : supported_levels())
    for (const Factors& f : {Factors{2, 63, 64}, {2, 64, 48}})
      CHECK(difference(f.run(kernels<float>(level, ProductFormat::int8)), f.run(kernels<float>(level))) ==
            "");
}

TEST_CASE("the oracle of int8 notices truncation and a scale for all rows") {
  const Factors f{2, 64, 64};
  const std::vector<float> got = f.run(int8_emulation(SimdLevel::generic));
  CHECK(difference(got, f.expected(Mistake::truncates)) != "");
  CHECK(difference(got, f.expected(Mistake::one_scale)) != "");
}

TEST_CASE("int8 is refused in f64") {
  CHECK_THROWS_WITH_AS(kernels<double>(SimdLevel::generic, ProductFormat::int8),
                       "[kernels] int8 is for f32. Got f64.", InputError);
}
