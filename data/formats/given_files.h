#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "lagtape/core/tensor.h"
#include "lagtape/data/table/column_table.h"

namespace lagtape {

/// Data that a program has in its memory, under names of files. While a GivenScope lives, what reads tables and arrays takes them
/// in place of files, on its thread.
class GivenFiles {
 public:
  /// The folder of these files, from which `data.path` names them: (memory)/data.csv.
  static constexpr const char* kFolder = "(memory)";

  void add_table(const std::string& name, std::shared_ptr<const ColumnTable> table);
  void add_arrays(const std::string& name, std::map<std::string, Tensor> arrays);

  const std::map<std::string, std::shared_ptr<const ColumnTable>>& tables() const { return tables_; }
  const std::map<std::string, std::map<std::string, Tensor>>& arrays() const { return arrays_; }

 private:
  std::map<std::string, std::shared_ptr<const ColumnTable>> tables_;
  std::map<std::string, std::map<std::string, Tensor>> arrays_;
};

/// Gives the files on this thread as long as it lives, or none (null); those that were given before wait.
class GivenScope {
 public:
  explicit GivenScope(const GivenFiles* files);
  ~GivenScope();
  GivenScope(const GivenScope&) = delete;
  GivenScope& operator=(const GivenScope&) = delete;

 private:
  const GivenFiles* before_;
};

/// The table, or the arrays, that are given for a path; null where it is that of a file. Throws InputError
/// where data of that name were given once, and are not now.
std::shared_ptr<const ColumnTable> given_table(const std::filesystem::path& path);
const std::map<std::string, Tensor>* given_arrays(const std::filesystem::path& path);

}  // namespace lagtape
