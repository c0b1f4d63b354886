#include "lagtape/data/formats/archive_file.h"

#include <fstream>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/arff_file.h"
#include "lagtape/data/formats/ts_file.h"
#include "lagtape/data/formats/ucr_file.h"

namespace lagtape {

void read_archive_file(const std::filesystem::path& path, const ArchiveOptions& options, ArchiveData& data) {
  std::error_code error;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, error)) file.open(path, std::ios::binary);
  if (!file.is_open())
    throw InputError({path.string()}, Rule::cannot_read,
                     "cannot be read. The task ts reads NAME_TRAIN and NAME_TEST, which end in .ts, .arff or "
                     ".tsv, from the folder data.path; `lagtape list tasks ts` says where they come from.");
  ArchiveBuilder builder(path, options, data);
  const std::string ending = path.extension().string();
  (ending == ".ts" ? read_ts : ending == ".arff" ? read_arff : read_ucr)(file, builder);
  if (file.bad()) throw InputError({path.string()}, Rule::cannot_read, "cannot be read to its end.");
  builder.end_file();
}

}  // namespace lagtape
