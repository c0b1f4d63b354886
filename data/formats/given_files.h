#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "lagtape/core/tensor.h"
#include "lagtape/data/table/column_table.h"

namespace lagtape {

/// Data in a program's memory, under file names. While a GivenScope lives, readers of tables and arrays on its
/// thread read them instead of files.
class GivenFiles {
 public:
  /// The folder of these files in `data.path`: (memory)/data.csv.
  static constexpr const char* kFolder = "(memory)";

  void add_table(const std::string& name, std::shared_ptr<const ColumnTable> table);
  void add_arrays(const std::string& name, std::map<std::string, Tensor> arrays);

  const std::map<std::string, std::shared_ptr<const ColumnTable>>& tables() const { return tables_; }
  const std::map<std::string, std::map<std::string, Tensor>>& arrays() const { return arrays_; }

 private:
  std::map<std::string, std::shared_ptr<const ColumnTable>> tables_;
  std::map<std::string, std::map<std::string, Tensor>> arrays_;
};

/// Provides the files on this thread while it lives, or none (null), and hides the files of an outer scope.
class GivenScope {
 public:
  explicit GivenScope(const GivenFiles* files);
  ~GivenScope();
  GivenScope(const GivenScope&) = delete;
  GivenScope& operator=(const GivenScope&) = delete;

 private:
  const GivenFiles* before_;
};

/// The given table or arrays for a path; null for the path of a file. Throws InputError if data of that name
/// were given earlier but are not now.
std::shared_ptr<const ColumnTable> given_table(const std::filesystem::path& path);
const std::map<std::string, Tensor>* given_arrays(const std::filesystem::path& path);

}  // namespace lagtape
