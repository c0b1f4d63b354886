#include "lagtape/tests/core/support/temporary_folder.h"

#include <cstdlib>
#include <iterator>
#include <stdexcept>

namespace lagtape {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "lagtape-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int TemporaryFolder::size() const {
  using Entries = std::filesystem::directory_iterator;
  return static_cast<int>(std::distance(Entries(path_), Entries()));
}

}  // namespace lagtape
