#include "lagtape/data/formats/npz_reader.h"

#include "lagtape/core/error.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/io/npy.h"
#include "lagtape/data/formats/file_tree.h"
#include "lagtape/data/formats/given_files.h"

namespace lagtape {

namespace {

constexpr std::int64_t kLargestArray = std::int64_t{1} << 40;
constexpr std::string_view kEnding = ".npy";

}  // namespace

std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  if (const auto* given = given_arrays(path)) return *given;
  std::map<std::string, Tensor> arrays;
  std::error_code error;
  for (const std::string& name : entries_of(path, error))
    if (name.ends_with(kEnding))
      arrays.emplace(name.substr(0, name.size() - kEnding.size()), map_npy(path / name));
  if (!arrays.empty()) return arrays;
  const FileWish wish{
      .wanted = [](std::string_view name) { return name.ends_with(kEnding); },
      .largest = kLargestArray,
      .size = [&](const std::string& name,
                  std::string_view beginning) { return npy_size(beginning, place_of(path, name)); }};
  read_files(path, wish, [&](const std::string& name, const std::string& bytes) {
    const std::string array = name.substr(0, name.size() - kEnding.size());
    if (!arrays.emplace(array, parse_npy(bytes, place_of(path, name))).second)
      throw InputError({place_of(path, name)}, Rule::conflict, "occurs twice.");
  });
  if (arrays.empty()) throw InputError({path.string()}, Rule::missing, "contains no .npy arrays.");
  return arrays;
}

}  // namespace lagtape
