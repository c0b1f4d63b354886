#include <doctest/doctest.h>

#include <numeric>

#include "lagtape/tests/ops/kernels/support/compare.h"

using namespace lagtape;
using namespace lagtape::test;

namespace {

constexpr std::int64_t kInputs = 5;

/// A matrix and its traces, one after another, as plain rows [kInputs, width]; and the vectors of an update.
template <class T>
struct TraceCase {
  std::int64_t width;
  int states;
  bool has_before;
  Aligned<T> matrices, vectors, x;

  TraceCase(std::int64_t columns, int states, bool has_before)
      : width(columns * kLane<T>),
        states(states),
        has_before(has_before),
        matrices(random_rows<T>(1 + states, kInputs * width, kInputs * width, 1, 0.1, 1)),
        vectors(random_rows<T>(1 + states * (states + 3), width, width, 2, 0.1, 1)),
        x(random_rows<T>(1, kInputs, kInputs, 3, 0.1, 1)) {}

  // The numbers of the vectors.
  int carry(int s, int r) const { return 1 + s * states + r; }
  int entry(int s) const { return 1 + states * states + s; }
  int credit(int s) const { return entry(s) + states; }
  int before(int s) const { return credit(s) + states; }
  const T* vector(int n) const { return vectors.data() + n * width; }

  std::vector<long double> plain() const {
    const std::int64_t size = kInputs * width;
    std::vector<long double> all(matrices.data(), matrices.data() + matrices.size());
    for (std::int64_t at = 0; at < size; ++at) {
      const std::int64_t i = at % width;
      const long double xj = x.data()[at / width];
      long double& w = all[static_cast<std::size_t>(at)];
      for (int s = 0; s < states; ++s) {
        long double after = vector(entry(s))[i] * xj;
        for (int r = 0; r < states; ++r)
          after += static_cast<long double>(vector(carry(s, r))[i]) * matrices.data()[(1 + r) * size + at];
        if (has_before)
          w += static_cast<long double>(vector(before(s))[i]) * matrices.data()[(1 + s) * size + at];
        w += vector(credit(s))[i] * after;
        all[static_cast<std::size_t>((1 + s) * size + at)] = after;
      }
      if (!has_before) w += vector(0)[i] * xj;
    }
    return all;
  }

  Aligned<T> run(const Kernels<T>& table) const {
    const std::int64_t size = kInputs * width;
    Aligned<T> packed = matrices, order(size), places(size + width), result = matrices;
    std::iota(order.data(), order.data() + size, T(0));
    table.pack(places.data(), order.data(), kInputs, width, width, 1);
    const auto place = [&](std::int64_t p) { return static_cast<std::int64_t>(places.data()[p]); };
    for (std::int64_t m = 0; m <= states; ++m)
      for (std::int64_t p = 0; p < size; ++p) packed[m * size + p] = matrices[m * size + place(p)];
    TraceUpdate<T> u{.w = packed.data(), .x = x.data(), .k = kInputs, .columns = width};
    u.states = states;
    u.direct = has_before ? nullptr : vector(0);
    for (int s = 0; s < states; ++s) {
      u.traces[s] = packed.data() + (1 + s) * size;
      for (int r = 0; r < states; ++r) u.carry[s * states + r] = vector(carry(s, r));
      u.entry[s] = vector(entry(s));
      u.credit[s] = vector(credit(s));
      u.before[s] = has_before ? vector(before(s)) : nullptr;
    }
    table.update_traces(u);
    for (std::int64_t m = 0; m <= states; ++m)
      for (std::int64_t p = 0; p < size; ++p) result[m * size + place(p)] = packed[m * size + p];
    return result;
  }
};

/// w^T direct of a matrix, and the matrix after it has moved, in order.
template <class T>
struct Moved {
  Aligned<T> backward, w;
};

template <class T>
Moved<T> moved(const TraceCase<T>& one, const Kernels<T>& table) {
  const std::int64_t size = kInputs * one.width;
  Aligned<T> packed(size), result(size), backward(kInputs), scratch(TraceUpdate<T>::kScratch * kInputs);
  table.pack(packed.data(), one.matrices.data(), kInputs, one.width, one.width, 1);
  TraceUpdate<T> u{.w = packed.data(), .x = one.x.data(), .k = kInputs, .columns = one.width};
  u.direct = one.vector(0);
  u.backward = backward.data();
  u.scratch = scratch.data();
  table.update_traces(u);
  Aligned<T> order(size), places(size);
  std::iota(order.data(), order.data() + size, T(0));
  table.pack(places.data(), order.data(), kInputs, one.width, one.width, 1);
  for (std::int64_t p = 0; p < size; ++p) result[static_cast<std::int64_t>(places[p])] = packed[p];
  return {backward, result};
}

}  // namespace

TEST_CASE_TEMPLATE("a matrix moves in the pass that makes its product backwards", T, float, double) {
  for (const std::int64_t columns : {1, 2, 3, 5}) {
    const TraceCase<T> one(columns, 0, false);
    std::vector<long double> backward(kInputs), w;
    for (std::int64_t at = 0; at < kInputs * one.width; ++at) {
      const std::int64_t j = at / one.width, i = at % one.width;
      const long double direct = one.vector(0)[i], old = one.matrices[at];
      backward[static_cast<std::size_t>(j)] += old * direct;
      w.push_back(old + direct * one.x[j]);
    }
    for (const SimdLevel level : supported_levels()) {
      CAPTURE(columns);
      CAPTURE(name_of(level));
      const Kernels<T>& table = kernels<T>(level);
      const Moved<T> got = moved(one, table), expected = moved(one, scalar_twin<T>(table.fused));
      CHECK(difference(got.backward, backward, 30 * one.width) == "");
      CHECK(difference(got.w, w, 30) == "");
      CHECK(bit_difference(got.backward, expected.backward) == "");
      CHECK(bit_difference(got.w, expected.w) == "");
    }
  }
}

TEST_CASE_TEMPLATE("traces follow their states, and their matrix gains from them", T, float, double) {
  for (const std::int64_t columns : {1, 2, 3}) {
    for (int states = 0; states <= TraceUpdate<T>::kMostStates; ++states) {
      for (const bool has_before : {false, true}) {
        if (states == 0 && has_before) continue;
        CAPTURE(columns);
        CAPTURE(states);
        CAPTURE(has_before);
        const TraceCase<T> one(columns, states, has_before);
        for (const SimdLevel level : supported_levels()) {
          CAPTURE(name_of(level));
          const Kernels<T>& table = kernels<T>(level);
          const Aligned<T> got = one.run(table);
          CHECK(difference(got, one.plain(), 30) == "");
          CHECK(bit_difference(got, one.run(scalar_twin<T>(table.fused))) == "");
        }
      }
    }
  }
}
