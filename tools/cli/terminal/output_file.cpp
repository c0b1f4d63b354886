#include "lagtape/tools/cli/terminal/output_file.h"

#include <algorithm>
#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::cli {

void check_ending(const std::string& option, const std::string& file,
                  const std::vector<std::string>& endings) {
  const auto ends = [&](const std::string& ending) { return file.ends_with(ending); };
  if (file.empty() || std::ranges::any_of(endings, ends)) return;
  std::string names = endings.front();
  for (std::size_t i = 1; i < endings.size(); ++i)
    names += text_of(i + 1 == endings.size() ? " or " : ", ", endings[i]);
  throw unexpected({.item = option}, Rule::wrong_type, text_of("a name that ends in ", names), quote(file));
}

void check_chart(const std::string& option, const std::string& file) {
  check_ending(option, file, kChartEndings);
  require_chart_program(option, file);
}

void check_not_an_input(const std::string& option, const std::string& output,
                        const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const std::string& input : inputs) {
    const fs::path file = fs::is_directory(input, error) ? RunFolder(input).weights_file() : fs::path(input);
    if (fs::equivalent(output, file, error))
      throw InputError({.item = text_of(option, " ", output)}, Rule::conflict, "is an input of this command",
                       {}, "Give another file.");
  }
}

}  // namespace lagtape::cli
