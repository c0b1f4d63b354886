#include "lagtape/data/formats/series_file.h"

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/io/npy.h"
#include "lagtape/core/quote.h"
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
  if (!array.empty()) throw InputError(unknown_name("array", array, names).within({path.string()}));
  throw InputError({path.string()}, Rule::conflict, "contains several arrays", {},
                   text_of("Choose one with data.array: ", listed(names), "."));
}

void refuse_non_finite(const fs::path& path, const Tensor& values) {
  const std::int64_t rows = values.size(1), columns = values.size(2);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double value = values.at(i);
    if (std::isfinite(value)) continue;
    throw InputError({path.string()}, Rule::not_finite, "numbers must be finite",
                     text_of(value, " in series ", i / (rows * columns), ", row ", i / columns % rows,
                             ", column ", i % columns));
  }
}

}  // namespace

Tensor read_series_file(const fs::path& path, const std::string& array) {
  Tensor values;
  const std::string ending = path.extension().string();
  if (ending == ".npy") {
    values = map_npy(path);
  } else if (ending == ".npz") {
    values = array_of(path, array);
  } else {
    throw unexpected({path.string()}, Rule::wrong_type, "a file that ends in .csv, .npy or .npz");
  }
  const Shape shape = values.shape();
  if (shape.empty() || shape.size() > 3 || values.numel() == 0) {
    throw unexpected({path.string()}, Rule::shape, "[rows], [rows, columns] or [series, rows, columns]",
                     to_string(shape));
  }
  if (shape.size() == 1) values = values.reshaped({1, shape[0], 1});
  if (shape.size() == 2) values = values.reshaped({1, shape[0], shape[1]});
  refuse_non_finite(path, values);
  return values;
}

}  // namespace lagtape
