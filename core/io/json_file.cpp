#include "lagtape/core/io/json_file.h"

#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_comments.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

Json read_json(const std::filesystem::path& file) { return parse_json(read_text(file), file.string()); }

Json read_commented_json(const std::filesystem::path& file) {
  return parse_commented_json(read_text(file), file.string());
}

}  // namespace lagtape
