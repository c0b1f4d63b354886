#include "lagtape/tools/cli/terminal/arrays.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/npy.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/tools/cli/terminal/print.h"

namespace lagtape::cli {

namespace {

Tensor read_any(const std::string& file, const std::vector<std::string>& names) {
  if (ending_of(file) == ".npy") return read_npy(file);
  const bool is_stdin = file == "-";
  std::string text = is_stdin ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : read_file(file);
  return parse_csv(std::move(text), is_stdin ? "stdin" : file, names, "the inputs of the experiment").values;
}

/// Throws InputError unless the array is of sequences of that many numbers a step. `names` are those of the numbers.
void check_shape(const Tensor& x, const std::string& file, std::int64_t width,
                 const std::vector<std::string>& names) {
  if ((x.rank() == 2 || x.rank() == 3) && x.numel() > 0 && x.size(-1) == width) return;
  if (ending_of(file) == ".npy") {
    throw unexpected({file}, Rule::shape,
                     text_of(width == 1 ? "[T], " : "", "[T, ", width, "] or [B, T, ", width, "]"),
                     to_string(x.shape()));
  }
  std::string columns;
  for (const std::string& name : names) columns += text_of(columns.empty() ? ": " : ", ", name);
  throw unexpected({file == "-" ? "stdin" : file}, Rule::shape,
                   text_of(width, width == 1 ? " number" : " numbers", " on each line", columns),
                   text_of(x.size(-1), " on each"));
}

/// [B, input, T] as [B, T, input].
Tensor turned_around(const Tensor& x) {
  const std::int64_t inputs = x.size(1), steps = x.size(2);
  Tensor turned({x.size(0), steps, inputs}, x.dtype());
  for (std::int64_t b = 0; b < x.size(0); ++b)
    for (std::int64_t i = 0; i < inputs; ++i)
      for (std::int64_t n = 0; n < steps; ++n)
        turned.set((b * steps + n) * inputs + i, x.at((b * inputs + i) * steps + n));
  return turned;
}

/// The position of a flat index, as in "[3, 0]".
std::string place_of(std::int64_t index, const Shape& shape) {
  Shape place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return to_string(place);
}

}  // namespace

void check_ending(const std::string& file) {
  if (file != "-" && ending_of(file) != ".npy" && ending_of(file) != ".csv") {
    throw unexpected({file}, Rule::wrong_type, "a file that ends in .npy or .csv, or - for lines");
  }
}

bool fits(double number, Dtype precision) {
  return std::isfinite(precision == Dtype::f32 ? static_cast<float>(number) : number);
}

bool is_token(double value, std::int64_t tokens) {
  return value >= 0 && value < static_cast<double>(tokens) && value == std::floor(value);
}

Tensor read_sequences(const std::string& file, std::int64_t width, Dtype precision, std::int64_t tokens,
                      const std::vector<std::string>& names, bool channels_first) {
  check_ending(file);
  Tensor x = read_any(file, names);
  if (width == 1 && x.rank() == 1 && ending_of(file) == ".npy") x = x.reshaped({x.numel(), 1});
  if (x.rank() == 3 && x.size(1) == width && (channels_first || x.size(2) != width)) {
    note("{}: {} is read as [N, inputs, T], {}\n", file, to_string(x.shape()),
         x.size(2) == width ? "as the data of the training" : text_of("since a step has ", width, " inputs"));
    x = turned_around(x);
  }
  check_shape(x, file, width, names);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    if (!fits(x.at(i), precision)) {
      throw InputError(
          {file}, Rule::not_finite,
          text_of("the number at ", place_of(i, x.shape()), " is not finite in ", name_of(precision)),
          text_of(x.at(i)));
    }
    if (tokens > 0 && !is_token(x.at(i), tokens)) {
      throw unexpected({.file = file, .item = text_of("the number at ", place_of(i, x.shape()))},
                       Rule::out_of_range, text_of("a token, one of 0..", tokens - 1), text_of(x.at(i)));
    }
  }
  return x;
}

void write_array(const std::string& file, const Tensor& array) {
  if (ending_of(file) == ".npy") return write_npy(file, array);
  if (array.rank() > 2) {
    throw InputError({file}, Rule::shape, "lines can contain only one sequence", to_string(array.shape()),
                     "Write them as .npy.");
  }
  const Csv table{.header = {}, .values = array.rank() == 1 ? array.reshaped({1, array.numel()}) : array};
  if (file == "-") {
    fmt::print("{}", serialize_csv(table));
  } else {
    write_csv(file, table);
  }
}

}  // namespace lagtape::cli
