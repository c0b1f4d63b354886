#include "lagtape/tools/exchange/import/module_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::foreign {
namespace {

using Order = std::vector<std::size_t>;

/// After so many steps a search for an order ends.
constexpr int kMostSteps = 20'000;

/// Whether numbers in the names say that a comes before b: where "blocks.2.lstm" and "blocks.10.fc" differ first, both have
/// a number.
bool is_numbered_before(const std::string& a, const std::string& b) {
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end_a = std::min(a.find('.', begin), a.size()),
                      end_b = std::min(b.find('.', begin), b.size());
    const std::string_view part_a = std::string_view(a).substr(begin, end_a - begin),
                           part_b = std::string_view(b).substr(begin, end_b - begin);
    if (part_a != part_b) {
      const auto is_number = [](std::string_view part) {
        return !part.empty() && part.size() < 9 &&
               std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
      };
      return is_number(part_a) && is_number(part_b) &&
             std::pair(part_a.size(), part_a) < std::pair(part_b.size(), part_b);
    }
    if (end_a == a.size() || end_b == b.size()) return false;
    begin = end_a + 1;
  }
}

/// The search for orders in which each module takes the width that the one before gives.
class OrderSearch {
 public:
  /// `maps_last`: a map comes before a recurrence only where numbers say so.
  OrderSearch(const std::vector<Module>& modules, bool maps_last) : modules_(modules) {
    const std::size_t count = modules.size();
    for (std::size_t i = 0; i < count; ++i) {
      before_.emplace_back();
      for (std::size_t k = 0; k < count; ++k) {
        const bool numbered = is_numbered_before(modules[k].name, modules[i].name);
        const bool recurrent_first = maps_last && modules[k].is_recurrent && !modules[i].is_recurrent &&
                                     !is_numbered_before(modules[i].name, modules[k].name);
        if (numbered || recurrent_first) before_.back().push_back(k);
      }
    }
    Order begun;
    go_on(begun);
  }

  /// At most two orders.
  const std::vector<Order>& found() const { return found_; }
  bool is_whole() const { return steps_ <= kMostSteps; }

 private:
  void go_on(Order& begun) {
    if (found_.size() > 1 || ++steps_ > kMostSteps) return;
    if (begun.size() == modules_.size()) return found_.push_back(begun);
    const auto is_placed = [&](std::size_t k) { return std::ranges::find(begun, k) != begun.end(); };
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      if (is_placed(i) || (!begun.empty() && modules_[begun.back()].output != modules_[i].input)) continue;
      if (!std::ranges::all_of(before_[i], is_placed)) continue;
      begun.push_back(i);
      go_on(begun);
      begun.pop_back();
    }
  }

  const std::vector<Module>& modules_;
  std::vector<Order> before_, found_;  ///< for each module those that come before it
  int steps_ = 0;
};

/// More modules than these are not tried in any order.
constexpr std::size_t kMostModules = 200;

std::string list_of(const std::vector<Module>& modules) {
  constexpr std::size_t kMostNamed = 60;
  std::string list;
  for (const Module& module : std::span(modules).first(std::min(modules.size(), kMostNamed)))
    list += text_of(list.empty() ? "" : ", ", shortened(module.name), " (", module.input, " to ",
                    module.output, ")");
  if (modules.size() > kMostNamed) list += text_of(" and ", modules.size() - kMostNamed, " more");
  return list;
}

/// The only order with other maps last that widths and numbers allow. Throws InputError when there is none, or
/// several.
Order order_by_widths(const std::vector<Module>& modules, const std::string& where) {
  if (modules.size() <= kMostModules) {
    const OrderSearch search(modules, true);
    if (search.is_whole() && search.found().size() == 1) return search.found().front();
    const OrderSearch any(modules, false);
    if (any.is_whole() && any.found().empty())
      throw InputError({where}, Rule::shape,
                       text_of("in no order does each module take the width that the one before gives: ",
                               list_of(modules), "."));
  }
  throw InputError({where}, Rule::missing,
                   text_of("the file does not tell the order of its modules: ", list_of(modules)), {},
                   "Give --order with their names from the input up, separated by commas.");
}

Order order_by_names(const std::vector<Module>& modules, const std::vector<std::string>& names,
                     const std::string& where) {
  std::vector<std::string> known;
  for (const Module& module : modules) known.push_back(module.name);
  Order order;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw InputError(unknown_name("module", name, known).within({.file = where, .item = "--order"}));
    order.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  Order sorted = order;
  std::ranges::sort(sorted);
  if (sorted.size() != modules.size() || std::ranges::adjacent_find(sorted) != sorted.end())
    throw InputError({where}, Rule::conflict,
                     text_of("--order names each module once. The file has ", list_of(modules), "."));
  return order;
}

Order order_of(const std::vector<Module>& modules, bool is_given, const std::vector<std::string>& names,
               const std::string& where) {
  if (!names.empty()) return order_by_names(modules, names, where);
  Order order(modules.size());
  std::iota(order.begin(), order.end(), 0);
  bool fits = true;
  for (std::size_t i = 1; i < modules.size(); ++i) fits = fits && modules[i - 1].output == modules[i].input;
  if ((is_given && fits) || modules.size() < 2) return order;
  const auto before = [&](std::size_t a, std::size_t b) {
    return is_numbered_before(modules[a].name, modules[b].name);
  };
  for (std::size_t i = 0; i < modules.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (!before(i, k) && !before(k, i)) return order_by_widths(modules, where);
  std::ranges::sort(order, before);
  return order;
}

}  // namespace

std::vector<Module> in_order(std::vector<Module> modules, bool is_given,
                             const std::vector<std::string>& names, const std::string& where) {
  std::vector<Module> ordered;
  for (const std::size_t i : order_of(modules, is_given, names, where))
    ordered.push_back(std::move(modules[i]));
  return ordered;
}

}  // namespace lagtape::foreign
