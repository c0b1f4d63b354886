#include "lagtape/tools/sweep/search/search_folder.h"

#include <set>
#include <span>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/sweep/search/draw.h"
#include "lagtape/tools/sweep/search/tpe.h"

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
    throw InputError({out.string()}, Rule::conflict,
                     text_of("is the folder of another search: ", place, " in search.json differs from ",
                             plan.file.string(), ". Give --out another folder."));
  }
  std::error_code error;
  remove_temporaries_of(file);
  if (!entries_of(out, error).empty())
    throw InputError({out.string()}, Rule::wrong_type,
                     "is no folder of a search, and not empty. Give --out another folder.");
  write_file_atomically(file, plan.identity.dump(2) + "\n", Links::refused);
}

void write_results(const SearchPlan& plan, const fs::path& out, const std::vector<Trial>& trials) {
  std::string lines;
  for (const Trial& trial : trials)
    if (trial.state != RunState::missing) lines += json_of(plan, trial).dump() + "\n";
  const FolderLock lock(out);
  sweep::write_results_file(out / "results.jsonl", lines, Links::refused);
}

void link_best(const fs::path& out, const Trial& trial) {
  // A link of another name takes the old one's place at once; a killed process may have left one.
  const FolderLock lock(out);
  const fs::path fresh = out / ".best-new";
  std::error_code ignored;
  for (const std::string& entry : entries_of(out, ignored))
    if (entry.starts_with(".best-")) fs::remove(out / entry, ignored);
  fs::create_directory_symlink(fs::path("runs") / trial.folder.filename(), fresh);
  fs::rename(fresh, out / "best");
}

void draw_more(const SearchPlan& plan, const fs::path& out, std::vector<Trial>& trials) {
  constexpr std::uint64_t kAttempts = 100;
  if (plan.method != Method::tpe || std::ssize(trials) >= plan.runs) return;
  const auto startup = static_cast<std::size_t>(plan.startup), batch = static_cast<std::size_t>(plan.batch);
  if (trials.size() < startup) return;  // the ranges are used up
  const std::size_t before = startup + (trials.size() - startup) / batch * batch;
  const std::size_t end = std::min(before + batch, static_cast<std::size_t>(plan.runs));
  std::set<std::string> known;
  for (const Trial& trial : trials) known.insert(text_of_values(trial.values));
  for (std::size_t number = trials.size(); number < end; ++number) {
    std::uint64_t attempt = 0;
    const auto next = [&] {
      return attempt < kAttempts ? tpe_draw(plan, std::span(trials).first(before), number, attempt)
                                 : random_draw(plan, number, attempt);
    };
    Values values = next();
    while (!known.insert(text_of_values(values)).second && ++attempt < 2 * kAttempts) values = next();
    if (attempt == 2 * kAttempts) break;
    write_file_atomically(draw_file(out, number), json_of_values(values).dump() + "\n", Links::refused);
    trials.push_back(trial_of(plan, out, number, std::move(values)));
  }
}

}  // namespace lagtape::search
