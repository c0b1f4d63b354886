#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

// Reproduces, bit for bit, permutations that PyTorch and NumPy draw from a 32-bit Mersenne Twister seeded with
// one integer: public experiments use them to order pixels and split data.

/// torch.randperm(n) after torch.manual_seed(seed): for i = 0..n-2, p[i] and p[i + r mod (n - i)] are
/// swapped, where r is the next draw.
std::vector<std::int64_t> torch_permutation(std::uint32_t seed, std::int64_t n);

/// numpy.random.RandomState(seed).permutation(n): for i = n-1..1, p[i] and p[j] are swapped, where j is the
/// first draw that is at most i after masking it to the bits of i.
std::vector<std::int64_t> numpy_permutation(std::uint32_t seed, std::int64_t n);

}  // namespace lagtape
