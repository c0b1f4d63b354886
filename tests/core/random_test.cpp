#include "lagtape/core/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "lagtape/core/error.h"

using namespace lagtape;

TEST_CASE("Philox4x32-10 gives the published known answers") {
  // kat_vectors of Random123 (D. E. Shaw Research)
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("A draw depends on its position alone") {
  RandomStream stream(7, 3);
  std::vector<double> uniforms, normals;
  for (int i = 0; i < 20; ++i) uniforms.push_back(stream.next_uniform());
  for (int i = 0; i < 20; ++i) normals.push_back(stream.next_normal());
  CHECK(stream.index() == 40);
  const RandomStream again(7, 3), late(7, 3, 39);
  for (int i = 19; i >= 0; --i) {
    CHECK(again.uniform_at(i) == uniforms[i]);
    CHECK(again.normal_at(20 + i) == normals[i]);
  }
  CHECK(RandomStream(late).next_normal() == normals[19]);
  CHECK(again.bits_at(0) != RandomStream(7, 4).bits_at(0));
  CHECK(again.bits_at(0) != RandomStream(8, 3).bits_at(0));
  CHECK(again.bits_at(0) != again.bits_at(std::uint64_t{1} << 32));
}

TEST_CASE("Uniform and normal draws have the moments of their distributions") {
  constexpr int n = 200'000;
  RandomStream stream(1, 2);
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0, normal_fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double u = stream.next_uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
    squares += u * u;
    const double z = stream.next_normal();
    normal_sum += z;
    normal_squares += z * z;
    normal_fourth += z * z * z * z;
  }
  // Five standard deviations of each mean.
  CHECK(std::abs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  CHECK(std::abs(squares / n - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / n));
  CHECK(std::abs(normal_sum / n) < 5 * std::sqrt(1.0 / n));
  CHECK(std::abs(normal_squares / n - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(normal_fourth / n - 3) < 5 * std::sqrt(96.0 / n));
}

TEST_CASE("Bounded draws reach every value about equally often") {
  RandomStream stream(1, 5);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(stream.next_below(7));
  for (int count : counts) CHECK(std::abs(count - 10'000) < 500);
  for (int i = 0; i < 100; ++i) CHECK(stream.next_below(1) == 0);
  CHECK_THROWS_AS(stream.next_below(0), InputError);

  // A bound of 3/4 of the range draws again a quarter of the time; without that, low values came twice as
  // often.
  constexpr std::uint64_t kBound = 0xC000000000000000;
  int low = 0;
  for (int i = 0; i < 30'000; ++i) low += stream.next_below(kBound) < kBound / 3;
  CHECK(std::abs(low - 10'000) < 500);
}

TEST_CASE("A permutation has every index once, and another stream gives another one") {
  RandomStream a(1, 1), b(1, 1), c(1, 2);
  const std::vector<std::int64_t> order = permutation(1000, a);
  CHECK(order == permutation(1000, b));
  CHECK(order != permutation(1000, c));
  CHECK_FALSE(std::ranges::is_sorted(order));
  std::vector<std::int64_t> sorted = order, all(1000);
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 0);
  CHECK(sorted == all);
  CHECK(permutation(0, a).empty());
}

TEST_CASE("Stream names depend on the parts, their order and their number") {
  std::set<std::uint64_t> names = {stream_name({}),       stream_name({0}),    stream_name({0, 0}),
                                   stream_name({1, 2}),   stream_name({2, 1}), stream_name({1, 2, 0}),
                                   stream_name({0, 1, 2})};
  CHECK(names.size() == 7);
  names.clear();
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (std::uint64_t j = 0; j < 100; ++j) names.insert(stream_name({i, j}));
  }
  CHECK(names.size() == 10'000);
}
