#include "lagtape/tools/cli/terminal/output_file.h"

#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::cli {

void check_ending(const std::string& option, const std::string& file, const std::string& ending) {
  if (!file.empty() && !file.ends_with(ending))
    throw InputError(text_of(option, " ", file, ": expected a name that ends in ", ending, "."));
}

void check_not_an_input(const std::string& option, const std::string& output,
                        const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const std::string& input : inputs) {
    const fs::path file = fs::is_directory(input, error) ? RunFolder(input).weights_file() : fs::path(input);
    if (fs::equivalent(output, file, error))
      throw InputError(text_of(option, " ", output, ": is an input of this command. Give another file."));
  }
}

}  // namespace lagtape::cli
