#include "lagtape/tools/new/column_names.h"

#include "lagtape/data/time/time_names.h"

namespace lagtape {

bool is_called_date(const std::string& name) {
  return has_word(name, {"date", "datetime", "timestamp", "year", "quarter", "month", "week", "day",
                         "weekday", "dow", "weekend", "hour", "minute", "season", "period", "ds"});
}

}  // namespace lagtape
