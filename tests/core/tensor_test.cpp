#include "lagtape/core/tensor.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"

using namespace lagtape;

namespace {

bool aligned(const Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.raw()) % 64 == 0; }

}  // namespace

TEST_CASE("A new tensor holds zeros and is aligned to 64 bytes") {
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const Tensor tensor({3, 5}, dtype);
    CHECK(aligned(tensor));
    CHECK(tensor.numel() == 15);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) CHECK(tensor.at(i) == 0);
  }
}

TEST_CASE("A default tensor is empty, a scalar and a tensor of extent zero are not") {
  CHECK(Tensor().empty());
  CHECK(Tensor().numel() == 0);
  CHECK(Tensor().values<float>().empty());
  CHECK(Tensor::scalar(2.5, Dtype::f64).item() == 2.5);
  CHECK(Tensor::scalar(2.5, Dtype::f64).rank() == 0);
  const Tensor none({4, 0}, Dtype::f32);
  CHECK_FALSE(none.empty());
  CHECK(none.numel() == 0);
}

TEST_CASE("Copies share their elements and clones do not") {
  Tensor tensor = Tensor::from({2}, {1, 2}, Dtype::f32);
  Tensor copy = tensor, clone = tensor.clone();
  tensor.set(0, 7);
  CHECK(copy.at(0) == 7);
  CHECK(clone.at(0) == 1);
  CHECK(tensor.to(Dtype::f32).raw() == tensor.raw());
  CHECK(tensor.reshaped({1, 2, 1}).raw() == tensor.raw());
}

TEST_CASE("Conversion rounds to the nearest number of the other type") {
  const Tensor third = Tensor::scalar(1.0 / 3, Dtype::f64);
  CHECK(third.to(Dtype::f32).item() == static_cast<double>(1.0f / 3.0f));
  CHECK(third.to(Dtype::f32).to(Dtype::f64).values<double>()[0] == static_cast<double>(1.0f / 3.0f));
}

TEST_CASE("Negative axes count from the end") {
  const Tensor tensor({2, 3, 4}, Dtype::f32);
  CHECK(tensor.size(-1) == 4);
  CHECK(tensor.size(0) == 2);
  CHECK_THROWS_AS(tensor.size(3), InputError);
  CHECK_THROWS_AS(tensor.size(-4), InputError);
}

TEST_CASE("Impossible shapes are refused") {
  constexpr std::int64_t kHuge = std::int64_t{1} << 31;
  CHECK_THROWS_AS(Tensor({2, -1}, Dtype::f32), InputError);
  CHECK_THROWS_AS(Tensor({0, -1}, Dtype::f32), InputError);
  CHECK_THROWS_AS(Tensor({kHuge, kHuge, kHuge}, Dtype::f32), InputError);
  CHECK_THROWS_AS(element_count({std::numeric_limits<std::int64_t>::max()}), InputError);
  CHECK(element_count({kHuge, kHuge, kHuge, 0}) == 0);
  CHECK(element_count({}) == 1);
}

TEST_CASE("Mistakes with elements are errors") {
  Tensor tensor = Tensor::from({2, 2}, {1, 2, 3, 4}, Dtype::f64);
  CHECK_THROWS_AS(tensor.values<float>(), Error);
  CHECK_THROWS_AS(tensor.at(4), Error);
  CHECK_THROWS_AS(tensor.set(-1, 0), Error);
  CHECK_THROWS_AS(tensor.item(), Error);
  CHECK_THROWS_AS(Tensor::from({3}, {1, 2}, Dtype::f64), InputError);
  CHECK_THROWS_WITH_AS(tensor.reshaped({3}), "[reshape] the number of elements stays. Got [2, 2] to [3].",
                       InputError);
}

TEST_CASE("A tensor over somebody else's numbers copies nothing and holds their owner") {
  const auto numbers = std::make_shared<std::vector<float>>(std::vector<float>{0, 1, 2, 3, 4, 5, 6});
  Tensor tensor = Tensor::over(numbers->data() + 1, {2, 3}, Dtype::f32, numbers);
  CHECK(std::as_const(tensor).raw() == numbers->data() + 1);
  CHECK(tensor.shape() == Shape{2, 3});
  CHECK(tensor.at(5) == 6);
  CHECK(numbers.use_count() == 2);
  const Tensor copy = tensor.clone();
  CHECK(copy.raw() != std::as_const(tensor).raw());
  CHECK(copy.at(0) == 1);
  tensor = Tensor();
  CHECK(numbers.use_count() == 1);
  CHECK_FALSE(Tensor::over(nullptr, {0, 3}, Dtype::f64).empty());
  CHECK_THROWS_AS(Tensor::over(numbers->data(), {-1}, Dtype::f32), InputError);
}
