// Times the kernels on one thread, beside oneDNN's sgemm. Build lagtape_bench_kernels and run it on an idle
// machine; it is not a test. Results are checked against the twin before they are timed.

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

/// Nanoseconds of the fastest of many runs.
template <class Work>
double nanoseconds(const Work& work) {
  double best = 1e30;
  for (int repeat = 0, calls = 1; repeat < 60;) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) work();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    if (time.count() < 2e5) {
      calls *= 2;
      continue;
    }
    best = std::min(best, time.count() / calls);
    ++repeat;
  }
  return best;
}

void require_same(const Aligned<float>& got, const Aligned<float>& expected) {
  const std::string difference = bit_difference(got, expected);
  if (difference.empty()) return;
  std::fprintf(stderr, "wrong result: %s\n", difference.c_str());
  std::exit(1);
}

void time_product(const Kernels<float>& table, std::int64_t rows, std::int64_t k, std::int64_t columns) {
  const std::int64_t lda = padded<float>(k), ldc = padded<float>(columns);
  const Aligned<float> a = random_rows<float>(rows, k, lda, 1),
                       b = random_rows<float>(k, columns, columns, 2);
  const Kernels<float>& twin = scalar_twin<float>(table.fused);
  const ProductCase<float> product{rows, columns, {{a.data(), lda, k}}};
  require_same(product.run(table, pack(table, b, k, columns)), product.run(twin, pack(twin, b, k, columns)));

  const Aligned<float> packed = pack(table, b, k, columns);
  Aligned<float> out(rows * ldc);
  std::vector<float*> groups;
  for (std::int64_t j = 0; j < ldc; j += kLane<float>) groups.push_back(out.data() + j);
  const std::vector<std::int64_t> strides(groups.size(), ldc);
  const Product<float> arguments{rows,          product.operands.data(), 1, packed.data(), ldc,
                                 groups.data(), strides.data()};
  const double own = nanoseconds([&] { table.product(arguments); });
  const double sgemm = nanoseconds([&] {
    dnnl_sgemm('N', 'N', rows, columns, k, 1, a.data(), lda, b.data(), columns, 0, out.data(), ldc);
  });
  const double flop = 2.0 * rows * k * columns;
  std::printf("product %5ld x %3ld x %3ld  %9.1f ns  %6.1f Gflop/s   sgemm %6.1f\n", rows, k, columns, own,
              flop / own, flop / sgemm);
}

void time_outer(const Kernels<float>& table, std::int64_t rows, std::int64_t m, std::int64_t n) {
  const std::int64_t ldd = padded<float>(m), ldx = padded<float>(n);
  const Aligned<float> d = random_rows<float>(rows, m, ldd, 1), x = random_rows<float>(rows, n, ldx, 2);
  const Aligned<float> start = random_rows<float>(m, n, n, 3);
  const auto add = [&](const Kernels<float>& kernels, Aligned<float>& w) {
    const OuterProduct<float> product{w.data(), n, {d.data(), ldd}, x.data(), ldx, m, n};
    kernels.add_outer_products(&product, 1, rows);
  };
  Aligned<float> w = start, expected = start;
  add(table, w);
  add(scalar_twin<float>(table.fused), expected);
  require_same(w, expected);
  const double own = nanoseconds([&] { add(table, w); });
  const double sgemm =
      nanoseconds([&] { dnnl_sgemm('T', 'N', m, n, rows, 1, d.data(), ldd, x.data(), ldx, 1, w.data(), n); });
  const double flop = 2.0 * rows * m * n;
  std::printf("outer   %5ld x %3ld x %3ld  %9.1f ns  %6.1f Gflop/s   sgemm %6.1f\n", rows, m, n, own,
              flop / own, flop / sgemm);
}

template <class T>
void time_element(const Kernels<T>& table, const char* name, ElementOp op) {
  const Aligned<T> a = random_rows<T>(1, 256, 256, 1, 0.1, 3), b = random_rows<T>(1, 256, 256, 2, 0.1, 3);
  Aligned<T> out(256);
  const auto kernel = table.element[static_cast<int>(op)];
  const double time = nanoseconds([&] { kernel(out.data(), a.data(), b.data(), b.data(), T(0.5), 256); });
  std::printf("%-12s f%zu  %6.3f ns an element\n", name, 8 * sizeof(T), time / 256);
}

}  // namespace

int main() {
  omp_set_num_threads(1);
  for (SimdLevel level : supported_levels()) {
    std::printf("%s\n", std::string(name_of(level)).c_str());
    const Kernels<float>& table = kernels<float>(level);
    const std::int64_t products[][3] = {{16, 128, 384},   {12, 128, 384}, {64, 128, 384},
                                        {1024, 128, 128}, {16, 384, 128}, {16, 16, 48},
                                        {32, 16, 64},     {1, 128, 512},  {1, 16, 64}};
    for (const auto& s : products) time_product(table, s[0], s[1], s[2]);
    const std::int64_t outers[][3] = {{64, 128, 128},  {256, 128, 128}, {1024, 128, 128},
                                      {256, 384, 128}, {256, 512, 512}, {256, 16, 16},
                                      {256, 48, 16},   {256, 128, 1},   {256, 512, 2}};
    for (const auto& s : outers) time_outer(table, s[0], s[1], s[2]);
    const std::pair<const char*, ElementOp> ops[] = {
        {"tanh", ElementOp::tanh}, {"sigmoid", ElementOp::sigmoid}, {"exp", ElementOp::exp},
        {"log", ElementOp::log},   {"sin", ElementOp::sin},         {"multiply_add", ElementOp::multiply_add},
        {"add", ElementOp::add}};
    for (const auto& [name, op] : ops) {
      time_element(table, name, op);
      time_element(kernels<double>(level), name, op);
    }
  }
}
