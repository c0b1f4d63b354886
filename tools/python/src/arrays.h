#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "lagtape/core/tensor.h"

namespace lagtape::python {

/// An array of T as lagtape reads it: row-major, dense, in its owner's memory.
template <class T>
using InputArray = nanobind::ndarray<const T, nanobind::c_contig, nanobind::device::cpu>;

/// A NumPy array over the tensor's own memory, which lives as long as either.
nanobind::object array_of(const Tensor& tensor, bool writable = true);

/// An uninitialized NumPy array of T with that shape.
template <class T>
nanobind::object empty_array(const Shape& shape, T*& data);

/// A tensor over an array's memory, which keeps the array alive. Nothing may write to it.
template <class T>
Tensor tensor_of(const InputArray<T>& array);

}  // namespace lagtape::python
