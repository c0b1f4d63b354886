// Data from Python's memory: tables from columns, and arrays, which are read where they are.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/given_files.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// Writes the cell of a row.
using CellWriter = std::function<void(std::string& text, std::size_t row)>;

template <class T>
using NumbersOf = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;

void write_word(std::string& text, std::string_view word) {
  if (word.find_first_of(",\"\r\n") == word.npos) {
    text += word;
    return;
  }
  text += '"';
  for (const char c : word) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

/// Numbers as the shortest texts that read back to them; NaN is an empty cell.
template <class T>
bool find_numbers(nb::handle column, CellWriter& writer, std::size_t& rows) {
  NumbersOf<T> numbers;
  if (!nb::try_cast(column, numbers, false)) return false;
  rows = numbers.shape(0);
  const T* data = numbers.data();
  writer = [numbers, data, stride = numbers.stride(0)](std::string& text, std::size_t row) {
    const T value = data[static_cast<std::int64_t>(row) * stride];
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value)) return;
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text.append(digits.data(), end);
  };
  return true;
}

CellWriter writer_of(nb::handle column, std::size_t& rows) {
  CellWriter writer;
  if (find_numbers<double>(column, writer, rows) || find_numbers<float>(column, writer, rows) ||
      find_numbers<std::int64_t>(column, writer, rows) || find_numbers<std::uint64_t>(column, writer, rows))
    return writer;
  const auto words = nb::cast<std::vector<std::string>>(column);
  rows = words.size();
  return [words](std::string& text, std::size_t row) { write_word(text, words[row]); };
}

/// A table of columns as the text of a file, whose readers then find in it what they find in one.
std::string table_of(const std::vector<std::string>& names, const nb::list& columns) {
  std::vector<CellWriter> writers;
  std::size_t rows = 0;
  for (const nb::handle column : columns) {
    std::size_t count = 0;
    writers.push_back(writer_of(column, count));
    if (writers.size() > 1 && count != rows)
      throw InputError({.item = text_of("column '", names[writers.size() - 1], "'")}, Rule::shape,
                       text_of("expected ", rows, " rows, as the columns before it have"), text_of(count));
    rows = count;
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ',';
    write_word(text, names[i]);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    text += '\n';
    const std::size_t begin = text.size();
    for (std::size_t i = 0; i < writers.size(); ++i) {
      if (i > 0) text += ',';
      writers[i](text, row);
    }
    if (text.size() == begin) text += "NA";  // an empty line would be no row
  }
  text += '\n';
  return text;
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
