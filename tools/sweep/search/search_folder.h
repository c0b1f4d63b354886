#pragma once

#include <filesystem>
#include <vector>

#include "lagtape/tools/sweep/search/search_plan.h"
#include "lagtape/tools/sweep/search/trial.h"

namespace lagtape::search {

/// Makes the folder of a search, or checks that the search in it is this one; more runs and more repetitions than
/// before are no difference. Throws InputError that names the first difference.
void begin_folder(const SearchPlan& plan, const std::filesystem::path& out);

/// Writes results.jsonl, one line a run that was begun. It is made from the run folders each time, so that neither a
/// kill nor another process can leave it wrong for long.
void write_results(const SearchPlan& plan, const std::filesystem::path& out,
                   const std::vector<Trial>& trials);

/// Adds the next runs of a search by `tpe`, whose runs have all ended, and notes their settings in the folder: none where
/// all are there, or where the ranges are used up.
void draw_more(const SearchPlan& plan, const std::filesystem::path& out, std::vector<Trial>& trials);

/// Points the link `best` to the folder of a run.
void link_best(const std::filesystem::path& out, const Trial& trial);

}  // namespace lagtape::search
