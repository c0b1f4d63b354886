#include "lagtape/data/formats/npz_reader.h"

#include "lagtape/core/error.h"
#include "lagtape/core/io/npy.h"
#include "lagtape/data/formats/file_tree.h"

namespace lagtape {

namespace {

constexpr std::int64_t kLargestArray = std::int64_t{1} << 40;
constexpr std::string_view kEnding = ".npy";

}  // namespace

std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  std::map<std::string, Tensor> arrays;
  const FileWish wish{.wanted = [](std::string_view name) { return name.ends_with(kEnding); },
                      .largest = kLargestArray};
  read_files(path, wish, [&](const std::string& name, const std::string& bytes) {
    arrays[name.substr(0, name.size() - kEnding.size())] = parse_npy(bytes, place_of(path, name));
  });
  if (arrays.empty()) throw InputError(text_of(path.string(), ": contains no .npy arrays."));
  return arrays;
}

}  // namespace lagtape
