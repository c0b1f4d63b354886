#include "lagtape/tools/sweep/search/search_folder.h"

#include <unistd.h>

#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape::search {

namespace fs = std::filesystem;

void begin_folder(const SearchPlan& plan, const fs::path& out) {
  const fs::path file = out / "search.json";
  fs::create_directories(out);
  for (const char* name : {"search.json", "results.jsonl", "runs"}) refuse_link(out / name);
  const FolderLock lock(out);  // of several processes that begin at the same time, one makes the folder
  if (fs::exists(file)) {
    const std::string place = parse_json(read_file(file), file.string()).first_difference(plan.identity);
    if (place.empty()) return;
    throw InputError(text_of(out.string(), ": is the folder of another search: ", place,
                             " in search.json differs from ", plan.file.string(),
                             ". Give --out another folder."));
  }
  remove_temporaries_of(file);
  std::error_code error;
  if (!entries_of(out, error).empty())
    throw InputError(
        text_of(out.string(), ": is no folder of a search, and not empty. Give --out another folder."));
  write_file_atomically(file, plan.identity.dump(2) + "\n", Links::refused);
}

void write_results(const SearchPlan& plan, const fs::path& out, const std::vector<Trial>& trials) {
  std::string lines;
  for (const Trial& trial : trials)
    if (trial.state != TrialState::missing) lines += json_of(plan, trial).dump() + "\n";
  write_file_atomically(out / "results.jsonl", lines, Links::refused);
}

void link_best(const fs::path& out, const Trial& trial) {
  // A link of its own name takes the old one's place at once.
  const fs::path fresh = out / text_of(".best-", ::getpid());
  std::error_code ignored;
  fs::remove(fresh, ignored);
  fs::create_directory_symlink(fs::path("runs") / trial.folder.filename(), fresh);
  fs::rename(fresh, out / "best");
}

}  // namespace lagtape::search
