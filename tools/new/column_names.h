#pragma once

#include <string>

namespace lagtape {

/// Whether a column has the name of a part of a date, whose values repeat in runs as well.
bool is_called_date(const std::string& name);

}  // namespace lagtape
