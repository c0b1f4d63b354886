#include "lagtape/tools/python/src/arrays.h"

#include <memory>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace lagtape::python {

nb::object array_of(const Tensor& tensor, bool writable) {
  auto owned = std::make_unique<Tensor>(tensor);
  void* data = owned->raw();
  const nb::capsule owner(owned.release(), [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
  const std::vector<std::size_t> shape(tensor.shape().begin(), tensor.shape().end());
  return with_scalar(tensor.dtype(), [&]<class T>() {
    if (writable) return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
    return nb::cast(nb::ndarray<nb::numpy, const T>(data, shape.size(), shape.data(), owner));
  });
}

template <class T>
nb::object empty_array(const Shape& shape, T*& data) {
  data = new T[static_cast<std::size_t>(element_count(shape))];
  const nb::capsule owner(data, [](void* kept) noexcept { delete[] static_cast<T*>(kept); });
  const std::vector<std::size_t> sizes(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, T>(data, sizes.size(), sizes.data(), owner));
}

template <class T>
Tensor tensor_of(const InputArray<T>& array) {
  Shape shape;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis)
    shape.push_back(static_cast<std::int64_t>(array.shape(axis)));
  return Tensor::over(array.data(), std::move(shape), dtype_of<T>, std::make_shared<InputArray<T>>(array));
}

template nb::object empty_array(const Shape&, float*&);
template nb::object empty_array(const Shape&, double*&);
template Tensor tensor_of(const InputArray<float>&);
template Tensor tensor_of(const InputArray<double>&);

}  // namespace lagtape::python
