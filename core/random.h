#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace lagtape {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): four 32-bit words from a
/// 128-bit counter and a 64-bit key. It is a pure function: a draw depends only on its counter and key.
std::array<std::uint32_t, 4> philox(const std::array<std::uint32_t, 4>& counter, std::uint64_t key);

/// A stream of draws: (seed, stream) identify it, and `index` is the position. Equal names give equal draws on
/// any thread, in any order. It has no other state.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream, std::uint64_t index = 0)
      : seed_(seed), stream_(stream), index_(index) {}

  /// The draw at a position: a 32-bit word, a uniform in [0, 1) (53 bits), a standard normal (Box-Muller).
  std::uint32_t bits_at(std::uint64_t index) const;
  double uniform_at(std::uint64_t index) const;
  double normal_at(std::uint64_t index) const;

  /// The draw at the current position, which then advances by one.
  std::uint32_t next_bits() { return bits_at(index_++); }
  double next_uniform() { return uniform_at(index_++); }
  double next_normal() { return normal_at(index_++); }
  /// An integer, uniform in 0..bound-1 without bias. Throws InputError unless bound >= 1.
  std::uint64_t next_below(std::uint64_t bound);

  std::uint64_t index() const { return index_; }

 private:
  std::uint64_t seed_, stream_, index_;
};

/// A Fisher-Yates permutation of 0..n-1 drawn from the stream.
std::vector<std::int64_t> permutation(std::int64_t n, RandomStream& stream);

/// A 64-bit name of a stream from its parts, so that unrelated uses of one seed never share a stream.
std::uint64_t stream_name(std::initializer_list<std::uint64_t> parts);

}  // namespace lagtape
