#include "lagtape/core/arena.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "lagtape/core/tensor.h"

using namespace lagtape;

TEST_CASE("Memory of an arena is aligned and does not overlap") {
  Arena arena;
  std::vector<unsigned char*> parts;
  const std::vector<std::size_t> sizes = {1, 64, 65, 100'000, 0, 7, 3'000'000, 8};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back(static_cast<unsigned char*>(arena.allocate(sizes[i])));
    CHECK(reinterpret_cast<std::uintptr_t>(parts[i]) % 64 == 0);
    std::memset(parts[i], static_cast<int>(i), sizes[i]);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t k = 0; k < sizes[i]; ++k) REQUIRE(parts[i][k] == i);
  }
}

TEST_CASE("Rewinding hands the same memory out again") {
  Arena arena;
  void* const kept = arena.allocate(100);
  const Arena::Mark mark = arena.mark();
  const std::size_t in_use = arena.bytes_in_use();
  CHECK(in_use == 128);
  std::vector<void*> first;
  for (int i = 0; i < 50; ++i) first.push_back(arena.allocate(10'000));
  CHECK(arena.bytes_in_use() >= in_use + 500'000);
  for (int round = 0; round < 3; ++round) {
    arena.rewind(mark);
    CHECK(arena.bytes_in_use() == in_use);
    for (int i = 0; i < 50; ++i) CHECK(arena.allocate(10'000) == first[i]);
  }
  arena.rewind({});
  CHECK(arena.bytes_in_use() == 0);
  CHECK(arena.allocate(100) == kept);
}

TEST_CASE("Any order of sizes after a rewind gets memory that does not overlap") {
  Arena arena;
  arena.allocate(10);
  const Arena::Mark mark = arena.mark();
  for (std::size_t size : {100'000, 10, 1'000'000, 70'000, 5'000'000, 20}) {
    arena.rewind(mark);
    auto* a = static_cast<unsigned char*>(arena.allocate(size));
    auto* b = static_cast<unsigned char*>(arena.allocate(200'000));
    std::memset(a, 1, size);
    std::memset(b, 2, 200'000);
    CHECK(a[0] == 1);
    CHECK(a[size - 1] == 1);
    CHECK(b[0] == 2);
  }
}

TEST_CASE("A tensor in an arena holds zeros even where there was something before") {
  Arena arena;
  Tensor first({1000}, Dtype::f32, arena);
  first.fill(3);
  const void* const memory = first.raw();
  arena.rewind({});
  const Tensor second({1000}, Dtype::f32, arena);
  CHECK(second.raw() == memory);
  for (float x : second.values<float>()) REQUIRE(x == 0);
}
