#include "lagtape/core/random.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

std::array<std::uint32_t, 4> words_at(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  return philox({low(index), high(index), low(stream), high(stream)}, seed);
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; }

// The upper 53 bits as a fraction in [0, 1).
double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

std::array<std::uint32_t, 4> philox(const std::array<std::uint32_t, 4>& counter, std::uint64_t key) {
  auto [c0, c1, c2, c3] = counter;
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

std::uint32_t RandomStream::bits_at(std::uint64_t index) const { return words_at(seed_, stream_, index)[0]; }

double RandomStream::uniform_at(std::uint64_t index) const {
  const auto words = words_at(seed_, stream_, index);
  return fraction(join(words[0], words[1]));
}

double RandomStream::normal_at(std::uint64_t index) const {
  const auto words = words_at(seed_, stream_, index);
  const double radius = 1 - fraction(join(words[0], words[1]));  // in (0, 1], so that its logarithm is finite
  const double turn = fraction(join(words[2], words[3]));
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * turn);
}

std::uint64_t RandomStream::next_below(std::uint64_t bound) {
  if (bound == 0)
    throw InputError({.op = "random"}, Rule::out_of_range, "next_below needs a bound of at least 1", "0");
  // A word from the incomplete last round of `bound` is rejected and drawn again.
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t excess = (kLargest % bound + 1) % bound;
  for (;;) {
    const auto words = words_at(seed_, stream_, index_++);
    const std::uint64_t draw = join(words[0], words[1]);
    if (draw <= kLargest - excess) return draw % bound;
  }
}

std::vector<std::int64_t> permutation(std::int64_t n, RandomStream& stream) {
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[stream.next_below(i + 1)]);
  return order;
}

std::uint64_t stream_name(std::initializer_list<std::uint64_t> parts) {
  // Each part is mixed in with the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
  std::uint64_t name = parts.size();
  for (std::uint64_t part : parts) {
    name = (name + 0x9E3779B97F4A7C15) ^ part;
    name = (name ^ (name >> 30)) * 0xBF58476D1CE4E5B9;
    name = (name ^ (name >> 27)) * 0x94D049BB133111EB;
    name ^= name >> 31;
  }
  return name;
}

}  // namespace lagtape
