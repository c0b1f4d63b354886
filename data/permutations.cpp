#include "lagtape/data/permutations.h"

#include <bit>
#include <numeric>
#include <random>
#include <utility>

namespace lagtape {

namespace {

std::vector<std::int64_t> identity(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

std::vector<std::int64_t> torch_permutation(std::uint32_t seed, std::int64_t n) {
  std::mt19937 twister(seed);
  std::vector<std::int64_t> order = identity(n);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + twister() % (order.size() - i)]);
  }
  return order;
}

std::vector<std::int64_t> numpy_permutation(std::uint32_t seed, std::int64_t n) {
  std::mt19937 twister(seed);
  std::vector<std::int64_t> order = identity(n);
  for (std::size_t i = order.size(); i-- > 1;) {
    const std::size_t mask = std::bit_ceil(i + 1) - 1;
    std::size_t j;
    do j = twister() & mask;
    while (j > i);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace lagtape
