#include "lagtape/data/formats/series_file.h"

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/io/csv.h"
#include "lagtape/core/io/npy.h"
#include "lagtape/data/formats/npz_reader.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

Tensor array_of(const fs::path& path, const std::string& array) {
  const std::map<std::string, Tensor> arrays = read_npz(path);
  if (array.empty() && arrays.size() == 1) return arrays.begin()->second;
  std::vector<std::string> names;
  for (const auto& [name, values] : arrays) names.push_back(name);
  const auto found = arrays.find(array);
  if (found != arrays.end()) return found->second;
  if (!array.empty()) throw InputError(text_of(path.string(), ": ", unknown_name("array", array, names)));
  std::string known;
  for (const std::string& name : names) known += text_of(known.empty() ? "" : ", ", name);
  throw InputError(
      text_of(path.string(), ": contains several arrays. Choose one with data.array: ", known, "."));
}

void refuse_non_finite(const fs::path& path, const Tensor& values) {
  const std::int64_t rows = values.size(1), columns = values.size(2);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double value = values.at(i);
    if (std::isfinite(value)) continue;
    throw InputError(text_of(path.string(), ": numbers must be finite. Got ", value, " in series ",
                             i / (rows * columns), ", row ", i / columns % rows, ", column ", i % columns,
                             "."));
  }
}

}  // namespace

SeriesFile read_series_file(const fs::path& path, const std::string& array) {
  SeriesFile file;
  const std::string ending = path.extension().string();
  if (ending == ".csv") {
    Csv csv = read_csv(path);
    file.names = std::move(csv.header);
    file.values = std::move(csv.values);
  } else if (ending == ".npy") {
    file.values = read_npy(path);
  } else if (ending == ".npz") {
    file.values = array_of(path, array);
  } else {
    throw InputError(text_of(path.string(), ": expected a file that ends in .csv, .npy or .npz."));
  }
  const Shape shape = file.values.shape();
  if (shape.empty() || shape.size() > 3 || file.values.numel() == 0) {
    throw InputError(text_of(path.string(),
                             ": expected [rows], [rows, columns] or [series, rows, columns]. Got ",
                             to_string(shape), "."));
  }
  if (shape.size() == 1) file.values = file.values.reshaped({1, shape[0], 1});
  if (shape.size() == 2) file.values = file.values.reshaped({1, shape[0], shape[1]});
  refuse_non_finite(path, file.values);
  return file;
}

}  // namespace lagtape
