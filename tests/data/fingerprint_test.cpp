#include "lagtape/data/fingerprint.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace lagtape;

namespace {

/// Sequences of one input and one target, whose numbers are a function of their index.
class Numbers final : public Dataset {
 public:
  Numbers(std::int64_t size, std::int64_t length, std::int64_t changed = -1, double by = 1)
      : Dataset({.length = length, .input = 1, .output = 1}), size_(size), changed_(changed), by_(by) {}

  std::int64_t size() const override { return size_; }
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    for (std::int64_t n = 0; n < shape().length; ++n)
      batch.x.set(row * shape().length + n, static_cast<double>(7 * index + n));
    batch.y.set(row, index == changed_ ? by_ : 0.0);
  }

 private:
  std::int64_t size_, changed_;
  double by_;
};

}  // namespace

TEST_CASE("Sets have the same fingerprint only when they are equal, on any number of threads") {
  ThreadPool one(1), three(3);
  CHECK(fingerprint(Numbers(20, 5), one) == fingerprint(Numbers(20, 5), three));
  std::set<std::uint64_t> all = {fingerprint(Numbers(20, 5), one), fingerprint(Numbers(21, 5), one),
                                 fingerprint(Numbers(20, 6), one)};
  for (std::int64_t index = 0; index < 20; ++index) all.insert(fingerprint(Numbers(20, 5, index), one));
  CHECK(all.size() == 23);
  CHECK(fingerprint(Numbers(20, 5, 3, 1e-300), one) != fingerprint(Numbers(20, 5), one));
}

TEST_CASE("Of large sets and long sequences a fingerprint looks at the first, the last and some between") {
  ThreadPool pool(2);
  const std::int64_t many = 1'000'000, steps = 1 << 21;
  CHECK(fingerprint(Numbers(many, 5, many - 1), pool) != fingerprint(Numbers(many, 5), pool));
  CHECK(fingerprint(Numbers(many, 5, 0), pool) != fingerprint(Numbers(many, 5), pool));
  CHECK(fingerprint(Numbers(many, 5, 1), pool) == fingerprint(Numbers(many, 5), pool));
  CHECK(fingerprint(Numbers(3, steps, 0), pool) != fingerprint(Numbers(3, steps), pool));
}
