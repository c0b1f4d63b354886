#include "lagtape/data/permutations.h"

#include <doctest/doctest.h>

using namespace lagtape;

namespace {

using Order = std::vector<std::int64_t>;

std::int64_t checksum(const Order& order) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < order.size(); ++k) sum += static_cast<std::int64_t>(k) * order[k];
  return sum;
}

Order first(const Order& order, int count) { return {order.begin(), order.begin() + count}; }
Order last(const Order& order, int count) { return {order.end() - count, order.end()}; }

}  // namespace

TEST_CASE("torch's permutations are reproduced") {
  CHECK(torch_permutation(0, 10) == Order{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
  const Order p = torch_permutation(5544, 784);
  CHECK(first(p, 10) == Order{327, 72, 48, 129, 109, 101, 69, 569, 79, 263});
  CHECK(last(p, 3) == Order{588, 393, 62});
  CHECK(checksum(p) == 121087537);
  const Order q = torch_permutation(12008, 784);
  CHECK(first(q, 8) == Order{91, 97, 471, 426, 157, 451, 312, 198});
  CHECK(last(q, 2) == Order{296, 267});
  CHECK(checksum(q) == 121301791);
}

TEST_CASE("numpy's legacy permutations are reproduced") {
  CHECK(numpy_permutation(0, 10) == Order{2, 8, 4, 9, 1, 6, 7, 3, 0, 5});
  const Order p = numpy_permutation(92916, 784);
  CHECK(first(p, 8) == Order{319, 576, 323, 107, 355, 716, 197, 20});
  CHECK(last(p, 2) == Order{39, 346});
  CHECK(checksum(p) == 118652722);
}
