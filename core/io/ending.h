#pragma once

#include <filesystem>
#include <string>

namespace lagtape {

/// The ending of a file's name in small letters, such as ".csv" for "LOG.CSV"; "" for none.
inline std::string ending_of(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending;
}

}  // namespace lagtape
