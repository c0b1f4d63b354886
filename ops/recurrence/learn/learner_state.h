#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lagtape::recurrence {

/// The numbers of a learner as bytes, behind a header that says of which learner they are, so that those of another one, cut
/// or changed bytes are refused.
class LearnerState {
 public:
  /// `learner`: a hash of all that its numbers belong to; `level`: the vector instructions, on which the order of the numbers
  /// depends.
  void set_origin(std::uint64_t learner, std::int32_t level) { learner_ = learner, level_ = level; }
  /// Numbers that stay where they are.
  template <class Number>
  void add(Number* numbers, std::size_t count) {
    parts_.push_back(std::as_writable_bytes(std::span(numbers, count)));
  }

  std::size_t size() const;
  /// Writes into `to`, which has that size. Throws InputError for another one.
  void save(std::span<std::byte> to) const;
  /// Throws InputError, with the numbers as they were.
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
