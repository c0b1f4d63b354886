#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lagtape::recurrence {

/// The numbers of a learner as bytes, after a header that identifies the learner, so bytes that are from
/// another one, truncated, or altered are rejected.
class LearnerState {
 public:
  /// `learner`: a hash of everything that its numbers belong to; `level`: the vector instructions, on which the
  /// order of the numbers depends.
  void set_origin(std::uint64_t learner, std::int32_t level) { learner_ = learner, level_ = level; }
  /// Numbers at fixed addresses.
  template <class Number>
  void add(Number* numbers, std::size_t count) {
    parts_.push_back(std::as_writable_bytes(std::span(numbers, count)));
  }

  std::size_t size() const;
  /// Writes into `to`, which must have that size; otherwise throws InputError.
  void save(std::span<std::byte> to) const;
  /// Throws InputError, leaving the numbers unchanged.
  void restore(std::span<const std::byte> from);

 private:
  struct Header {
    std::uint64_t format = 0, checksum = 0, learner = 0, size = 0;
    std::int64_t level = 0;
  };

  std::vector<std::span<std::byte>> parts_;
  std::uint64_t learner_ = 0;
  std::int32_t level_ = 0;
};

}  // namespace lagtape::recurrence
