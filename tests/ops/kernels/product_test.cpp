#include <doctest/doctest.h>

#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

struct Shape {
  std::int64_t rows, k, columns;
};

// Shapes around the heights and widths of the tiles of all levels, and the sizes of real cells.
constexpr Shape kShapes[] = {{1, 1, 1},    {1, 5, 16},    {2, 3, 40},    {3, 17, 130}, {4, 16, 48},
                             {5, 9, 8},    {6, 2, 24},    {7, 31, 33},   {12, 16, 16}, {13, 20, 96},
                             {14, 7, 17},  {15, 40, 64},  {28, 12, 80},  {29, 3, 100}, {64, 16, 48},
                             {37, 64, 72}, {1, 128, 512}, {16, 128, 384}};

/// a: [rows, k] in rows of padded(k) whose padding is NaN; b: [k, columns].
template <class T>
struct Factors {
  Shape shape;
  Aligned<T> a, b;

  explicit Factors(Shape s)
      : shape(s),
        a(random_rows<T>(s.rows, s.k, padded<T>(s.k), 1)),
        b(random_rows<T>(s.k, s.columns, s.columns, 2)) {}

  ProductCase<T> whole() const {
    return {shape.rows, shape.columns, {{a.data(), padded<T>(shape.k), shape.k}}};
  }

  Aligned<T> run(const Kernels<T>& kernels) const {
    return whole().run(kernels, pack(kernels, b, shape.k, shape.columns));
  }
};

/// The worst error of a sum of k rounded products is k units of the sum of their magnitudes.
template <class T>
std::string product_difference(const Factors<T>& f, const Aligned<T>& got) {
  const Shape s = f.shape;
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < padded<T>(s.columns); ++j) {
      long double sum = 0, magnitude = 0;
      for (std::int64_t e = 0; e < s.k && j < s.columns; ++e) {
        const long double product =
            static_cast<long double>(f.a[i * padded<T>(s.k) + e]) * f.b[e * s.columns + j];
        sum += product;
        magnitude += std::fabs(product);
      }
      const T value = got[i * padded<T>(s.columns) + j];
      const long double bound = s.k * std::numeric_limits<T>::epsilon() * magnitude;
      if (!(std::fabs(value - sum) <= bound))
        return text_of("element ", i, ", ", j, ": ", value, " for ", sum);
    }
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("a product is the sum of the products, and zero in the columns of the padding", T, float,
                   double) {
  for (Shape shape : kShapes) {
    const Factors<T> factors(shape);
    for (SimdLevel level : supported_levels()) {
      CAPTURE(name_of(level));
      CAPTURE(shape.rows);
      CAPTURE(shape.columns);
      const Aligned<T> got = factors.run(kernels<T>(level));
      CHECK(product_difference(factors, got) == "");
      CHECK(bit_difference(got, factors.run(scalar_twin<T>(kernels<T>(level).fused))) == "");
    }
  }
  const Factors<T> factors({5, 9, 8});
  Aligned<T> zeros(5 * padded<T>(8));
  for (std::int64_t i = 0; i < zeros.size(); ++i) zeros[i] = 0;
  CHECK(product_difference(factors, zeros) != "");
}

TEST_CASE_TEMPLATE("a row of a product does not depend on how many rows there are", T, float, double) {
  const Factors<T> factors({40, 33, 100});
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    const Aligned<T> packed = pack(table, factors.b, 33, 100);
    const Aligned<T> all = factors.run(table);
    for (std::int64_t rows = 1; rows <= 40; ++rows) {
      ProductCase<T> part = factors.whole();
      part.rows = rows;
      part.operands[0].a += (40 - rows) * padded<T>(33);
      const Aligned<T> got = part.run(table, packed);
      Aligned<T> expected(got.size());
      std::memcpy(expected.data(), &all[(40 - rows) * padded<T>(100)], got.size() * sizeof(T));
      CAPTURE(rows);
      CHECK(bit_difference(got, expected) == "");
    }
  }
}

TEST_CASE_TEMPLATE("a row has the same bits from its last columns to its first", T, float, double) {
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    for (std::int64_t columns = 1; columns <= 20 * kLane<T>; columns += kLane<T>) {
      CAPTURE(columns);
      const Factors<T> factors({1, 9, columns});
      const Kernels<T>& table = kernels<T>(level);
      const Aligned<T> packed = pack(table, factors.b, 9, columns);
      ProductCase<T> product = factors.whole();
      const Aligned<T> ascending = product.run(table, packed);
      CHECK(bit_difference(ascending, factors.run(scalar_twin<T>(table.fused))) == "");
      product.descending = true;
      CHECK(bit_difference(product.run(table, packed), ascending) == "");
    }
  }
}

TEST_CASE_TEMPLATE("what is prefetched meanwhile changes no bit, wherever it lies", T, float, double) {
  const std::vector<char> memory(10000);
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    for (const std::int64_t rows : {1, 2, 13, 40}) {
      CAPTURE(rows);
      const Factors<T> factors({rows, 61, 50});
      const Aligned<T> packed = pack(table, factors.b, 61, 50);
      ProductCase<T> product = factors.whole();
      const Aligned<T> expected = product.run(table, packed);
      product.prefetched = {
          {memory.data(), 10000}, {nullptr, 64}, {memory.data() + 3, 1}, {memory.data(), 0}};
      CHECK(bit_difference(product.run(table, packed), expected) == "");
    }
  }
}

TEST_CASE_TEMPLATE("operands side by side give the bits of one operand", T, float, double) {
  const Factors<T> factors({23, 61, 50});
  const Aligned<T>& a = factors.a;
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    ProductCase<T> split = factors.whole();
    const std::int64_t lda = padded<T>(61);
    split.operands = {
        {a.data(), lda, 1}, {a.data() + 1, lda, 39}, {a.data() + 40, lda, 0}, {a.data() + 40, lda, 21}};
    CHECK(bit_difference(split.run(table, pack(table, factors.b, 61, 50)), factors.run(table)) == "");
  }
}

TEST_CASE_TEMPLATE("groups of columns go wherever they are sent", T, float, double) {
  const Factors<T> factors({13, 10, 5 * kLane<T>});
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    const Aligned<T> packed = pack(table, factors.b, 10, 5 * kLane<T>);
    const Aligned<T> expected = factors.run(table);
    // Group g in a separate buffer, with its own row stride.
    std::vector<Aligned<T>> buffers;
    std::vector<T*> out;
    std::vector<std::int64_t> ldc;
    for (std::int64_t g = 0; g < 5; ++g) {
      ldc.push_back((g + 1) * kLane<T>);
      buffers.emplace_back(13 * ldc.back());
    }
    for (Aligned<T>& buffer : buffers) out.push_back(buffer.data());
    const ProductOperand<T> operand = factors.whole().operands[0];
    table.product({13, &operand, 1, packed.data(), 5 * kLane<T>, out.data(), ldc.data()});
    Aligned<T> got(expected.size());
    bool outside_untouched = true;
    for (std::int64_t i = 0; i < 13; ++i) {
      for (std::int64_t g = 0; g < 5; ++g) {
        for (std::int64_t j = 0; j < ldc[g]; ++j) {
          if (j < kLane<T>) {
            got[(i * 5 + g) * kLane<T> + j] = out[g][i * ldc[g] + j];
          } else if (!std::isnan(out[g][i * ldc[g] + j])) {
            outside_untouched = false;
          }
        }
      }
    }
    CHECK(bit_difference(got, expected) == "");
    CHECK(outside_untouched);
  }
}

TEST_CASE_TEMPLATE("a matrix packed in parts is the matrix packed at once", T, float, double) {
  // [top left, top right; bottom]: 7 and 4 inner rows; columns split at a multiple of kLane.
  const std::int64_t k = 11, columns = 7 * kLane<T> - 3, split = 3 * kLane<T>;
  const Aligned<T> b = random_rows<T>(k, columns, columns, 5);
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    const Aligned<T> expected = pack(table, b, k, columns);
    Aligned<T> got(expected.size());
    const std::int64_t total = padded<T>(columns);
    table.pack_part(got.data(), k, total, 0, 0, b.data(), 7, split, columns, 1);
    table.pack_part(got.data(), k, total, 0, split, b.data() + split, 7, columns - split, columns, 1);
    table.pack_part(got.data(), k, total, 7, 0, b.data() + 7 * columns, 4, columns, columns, 1);
    CHECK(bit_difference(got, expected) == "");
  }
}

TEST_CASE_TEMPLATE("a transposed matrix is packed by its strides", T, float, double) {
  const std::int64_t k = 13, columns = 21;
  const Aligned<T> b = random_rows<T>(k, columns, columns, 6);
  Aligned<T> transposed(k * columns);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) transposed[j * k + i] = b[i * columns + j];
  }
  for (SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Kernels<T>& table = kernels<T>(level);
    Aligned<T> got(k * padded<T>(columns));
    table.pack(got.data(), transposed.data(), k, columns, 1, k);
    CHECK(bit_difference(got, pack(table, b, k, columns)) == "");
  }
}
