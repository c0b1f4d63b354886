#pragma once

#include <map>
#include <string>
#include <vector>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// A JSON value as readable text, with comments on its values, which are identified by JSON Pointers.
class CommentedJson {
 public:
  explicit CommentedJson(const Json& value) : value_(value) {}

  /// A line above a value; "" is the top.
  void before(const std::string& pointer, const std::string& comment);
  /// A few words after a value, on its line.
  void behind(const std::string& pointer, const std::string& comment);
  /// The text, with short objects and lists on one line.
  std::string str() const;

 private:
  bool has_comment_within(const std::string& pointer) const;
  std::string text_of_value(const Json& value, const std::string& pointer, int depth) const;

  const Json& value_;
  std::map<std::string, std::vector<std::string>> before_;
  std::map<std::string, std::string> behind_;
};

}  // namespace lagtape
