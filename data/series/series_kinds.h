#pragma once

#include "lagtape/core/json/options.h"
#include "lagtape/data/series/series_options.h"

namespace lagtape {

inline constexpr double kMostSteps = 1e8;

inline constexpr Choices kMissingNames = {{"error", Missing::error},
                                          {"interpolate", Missing::interpolate},
                                          {"hold", Missing::hold},
                                          {"mask", Missing::mask}};

inline constexpr Choices kDateOrders = {{"auto", DateOrder::automatic},
                                        {"day_first", DateOrder::day_first},
                                        {"month_first", DateOrder::month_first}};
inline constexpr const char* kAboutDateOrder =
    "which of the first two numbers of a date is the day where no row has one above 12: \"day_first\" or "
    "\"month_first\"; \"auto\": an error asks";

/// Notes the error for an invalid "time_format".
void check_time_format(const std::string& format, JsonReader& reader);

// How the option values of recordings are written.
extern const OptionKindOf<Json> kColumns;                            ///< a list of names and numbers, or null
extern const OptionKindOf<SeriesOptions> kInput;                     ///< past columns, written as "input"
extern const OptionKindOf<SeriesOptions> kPast;                      ///< the same, written as "past"
extern const OptionKindOf<std::optional<bool>> kMaybe;               ///< true, false or null
extern const OptionKindOf<std::vector<std::string>> kCalendarNames;  ///< names in kCalendar
extern const OptionKindOf<std::vector<Category>> kCategories;        ///< an object with lists of words
extern const OptionKindOf<std::vector<std::string>> kTimeColumns;    ///< one column name, or two
extern const OptionKindOf<std::vector<std::string>> kNames;          ///< one column name, or a list
extern const OptionKindOf<std::vector<std::int64_t>> kDays;          ///< a list of dates
extern const OptionKindOf<std::int64_t> kStride;                     ///< a number, or "auto"
extern const OptionKindOf<ScaleBy> kScaleBy;                         ///< true, false, "all" or "series"
extern const OptionKindOf<SeriesOptions> kPaths;                     ///< a file, or a list of files

}  // namespace lagtape
