#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "lagtape/core/tensor.h"

namespace lagtape::python {

/// An array of T as lagtape reads it: row-major, dense, in the memory of its owner.
template <class T>
using InputArray = nanobind::ndarray<const T, nanobind::c_contig, nanobind::device::cpu>;

/// A NumPy array over the tensor's own memory, which lives as long as either.
nanobind::object array_of(const Tensor& tensor, bool writable = true);

/// A NumPy array of T with that shape, not initialized.
template <class T>
nanobind::object empty_array(const Shape& shape, T*& data);

/// A tensor over the memory of an array, which it holds. Nothing may write to it.
template <class T>
Tensor tensor_of(const InputArray<T>& array);

}  // namespace lagtape::python
