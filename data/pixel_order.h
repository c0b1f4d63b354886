#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// The permutations of public experiments, bit for bit, from the 32-bit Mersenne twister started with one
/// integer.

/// torch.randperm(n) after torch.manual_seed(seed): p[i] and p[i + r mod (n - i)] change places, i = 0..n-2.
std::vector<std::int64_t> torch_permutation(std::uint32_t seed, std::int64_t n);

/// numpy.random.RandomState(seed).permutation(n): p[i] and p[j] change places, i = n-1..1, j the first draw
/// that, cut to the bits of i, is not above i.
std::vector<std::int64_t> numpy_permutation(std::uint32_t seed, std::int64_t n);

}  // namespace lagtape
