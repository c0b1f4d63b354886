#include "lagtape/tools/train/files/json_lines.h"

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text_lines.h"

namespace lagtape {

void for_each_json_line(std::string_view text, const std::filesystem::path& file,
                        const std::function<void(Json row, const std::string& where)>& visit) {
  const bool may_be_cut = !text.ends_with('\n');
  std::size_t number = 0;
  for (std::string line; take_line(text, line);) {
    const std::string where = text_of(file.string(), ": line ", ++number);
    Json row = Json::accept(line) ? Json::parse(line) : Json();
    if (row.is_object()) {
      visit(std::move(row), where);
    } else if (!may_be_cut || !text.empty()) {
      throw InputError({where}, Rule::wrong_type, "expected a JSON object", quote(line));
    }
  }
}

void for_each_json_line(const std::filesystem::path& file,
                        const std::function<void(Json row, const std::string& where)>& visit) {
  if (std::filesystem::exists(file)) for_each_json_line(read_file(file), file, visit);
}

}  // namespace lagtape
