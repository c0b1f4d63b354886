// Data in Python's memory: tables made from columns, and arrays, which are not copied.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/given_files.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

template <class T>
using NumbersOf = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;

/// The shortest text that reads back as the same number; "" for NaN.
template <class T>
std::string text_of_number(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return "";
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

/// The value as Python writes it to a file.
std::string text_of_number(bool value) { return value ? "True" : "False"; }

/// A number as if read from a text file: 0.1f becomes 0.1.
template <class T>
double number_of(T value) {
  if constexpr (!std::is_same_v<T, float>) return static_cast<double>(value);
  std::array<char, 32> digits;
  const char* end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(value)).ptr;
  double read = 0;
  std::from_chars(digits.data(), end, read);
  return read;
}

/// Reads a column of numbers in place.
template <class T>
bool find_numbers(nb::handle values, GivenColumn& column) {
  NumbersOf<T> numbers;
  if (!nb::try_cast(values, numbers, false)) return false;
  column.rows = static_cast<std::int64_t>(numbers.shape(0));
  const auto at = [numbers, data = numbers.data(), stride = numbers.stride(0)](std::int64_t row) {
    return data[row * stride];
  };
  column.number = [at](std::int64_t row) { return number_of<T>(at(row)); };
  column.write = [at](std::int64_t row) { return text_of_number(at(row)); };
  return true;
}

GivenColumn column_of(const std::string& name, nb::handle values) {
  GivenColumn column{.name = name};
  if (find_numbers<double>(values, column) || find_numbers<float>(values, column) ||
      find_numbers<std::int64_t>(values, column) || find_numbers<std::uint64_t>(values, column) ||
      find_numbers<bool>(values, column))
    return column;
  column.texts = nb::cast<std::vector<std::string>>(values);
  column.rows = std::ssize(column.texts);
  return column;
}

std::shared_ptr<const ColumnTable> table_of(const std::vector<std::string>& names, const nb::list& columns) {
  std::vector<GivenColumn> given;
  for (std::size_t i = 0; i < names.size(); ++i) given.push_back(column_of(names[i], columns[i]));
  return std::make_shared<ColumnTable>(std::move(given));
}

std::map<std::string, Tensor> tensors_of(const nb::dict& arrays) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, array] : arrays) {
    InputArray<float> f32;
    const bool is_f32 = nb::try_cast(array, f32, false);
    tensors[nb::cast<std::string>(name)] =
        is_f32 ? tensor_of(f32) : tensor_of(nb::cast<InputArray<double>>(array));
  }
  return tensors;
}

}  // namespace

void add_given_data(nb::module_& module) {
  nb::class_<GivenFiles>(module, "GivenFiles")
      .def(nb::init<>())
      .def("add_table", [](GivenFiles& files, const std::string& name, const std::vector<std::string>& names,
                           const nb::list& columns) { files.add_table(name, table_of(names, columns)); })
      .def("add_arrays", [](GivenFiles& files, const std::string& name, const nb::dict& arrays) {
        files.add_arrays(name, tensors_of(arrays));
      });
}

}  // namespace lagtape::python
