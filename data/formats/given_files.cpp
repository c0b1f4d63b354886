#include "lagtape/data/formats/given_files.h"

#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// The files of the innermost scope of the thread.
thread_local const GivenFiles* given = nullptr;

template <class Files>
auto find_given(const std::filesystem::path& path, const Files& files)
    -> decltype(&files(*given).begin()->second) {
  if (path.parent_path().filename() != GivenFiles::kFolder) return nullptr;
  if (given != nullptr)
    if (const auto found = files(*given).find(path.filename().string()); found != files(*given).end())
      return &found->second;
  throw InputError({path.string()}, Rule::missing, "the data were given from memory, and are no file", {},
                   R"(Give them again, in Python as "data", or the path of a file like them as data.path.)");
}

}  // namespace

void GivenFiles::add_table(const std::string& name, std::shared_ptr<const ColumnTable> table) {
  tables_[name] = std::move(table);
}

void GivenFiles::add_arrays(const std::string& name, std::map<std::string, Tensor> arrays) {
  arrays_[name] = std::move(arrays);
}

GivenScope::GivenScope(const GivenFiles* files) : before_(std::exchange(given, files)) {}
GivenScope::~GivenScope() { given = before_; }

std::shared_ptr<const ColumnTable> given_table(const std::filesystem::path& path) {
  const auto* found = find_given(
      path, [](const GivenFiles& files) -> const auto& { return files.tables(); });
  return found != nullptr ? *found : nullptr;
}

const std::map<std::string, Tensor>* given_arrays(const std::filesystem::path& path) {
  return find_given(
      path, [](const GivenFiles& files) -> const auto& { return files.arrays(); });
}

}  // namespace lagtape
