#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lagtape {

/// The processes that share the work on each batch, called ranks as in MPI. All of them make the same calls in
/// the same order. A call throws Error if another rank is lost.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;   ///< the number of this process, 0 .. count() - 1
  virtual int count() const = 0;  ///< the number of processes

  virtual void send(int to, std::span<const std::byte> data) = 0;
  virtual void receive(int from, std::span<std::byte> data) = 0;
  /// Sends the data of one rank to all.
  virtual void broadcast(int from, std::span<std::byte> data) = 0;
  /// Rank r has bytes begins[r] to begins[r + 1] of `data`; afterwards every rank has all of it.
  void share(std::span<std::byte> data, std::span<const std::int64_t> begins) {
    for (int from = 0; from < count(); ++from) {
      const auto begin = static_cast<std::size_t>(begins[static_cast<std::size_t>(from)]);
      const auto end = static_cast<std::size_t>(begins[static_cast<std::size_t>(from) + 1]);
      broadcast(from, data.subspan(begin, end - begin));
    }
  }
};

}  // namespace lagtape
