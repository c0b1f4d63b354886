#include "lagtape/tools/exchange/files/pickle.h"

#include <algorithm>
#include <map>

#include "lagtape/tools/exchange/files/byte_view.h"

namespace lagtape::foreign {
namespace {

using Kind = PickledValue::Kind;

/// The machine of a pickled program: a stack, marks on it, and a memory.
class PickleReader {
 public:
  PickleReader(std::string_view bytes, std::deque<PickledValue>& values, const std::string& where)
      : file_(bytes, where), values_(values) {}

  Pickled read() {
    for (;;) {
      const auto code = take<char>();
      if (code == '.') return pop();
      if (!put_number(code) && !put_text(code) && !put_list(code) && !use_memory(code) && !make(code))
        throw InputError({file_.where()}, Rule::not_supported,
                         text_of("the pickled program has the instruction ",
                                 static_cast<int>(static_cast<unsigned char>(code)), ", which is not read."));
    }
  }

 private:
  template <class T>
  T take() {
    const T value = file_.at<T>(at_);
    at_ += sizeof value;
    return value;
  }
  std::string take_text(std::uint64_t size) {
    const std::string text(file_.part(at_, size));
    at_ += size;
    return text;
  }
  std::string take_line() {
    std::string line;
    for (char c = take<char>(); c != '\n'; c = take<char>()) line += c;
    return line;
  }

  void push(PickledValue value) { stack_.push_back(&values_.emplace_back(std::move(value))); }
  void push_number(double number) { push({.kind = Kind::number, .number = number}); }
  PickledValue* pop() {
    if (stack_.empty()) file_.refuse("is damaged: its pickled program takes more than there is.");
    PickledValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  PickledValue* top() const {
    if (stack_.empty()) file_.refuse("is damaged: its pickled program takes more than there is.");
    return stack_.back();
  }
  std::vector<Pickled> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size())
      file_.refuse("is damaged: its pickled program lacks a mark.");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    marks_.pop_back();
    std::vector<Pickled> values(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return values;
  }

  bool put_number(char code) {
    switch (code) {
      case 'N': push({}); return true;
      case '\x88': push_number(1); return true;
      case '\x89': push_number(0); return true;
      case 'K': push_number(take<std::uint8_t>()); return true;
      case 'M': push_number(take<std::uint16_t>()); return true;
      case 'J': push_number(take<std::int32_t>()); return true;
      case '\x8a': {  // a whole number of up to 8 bytes
        const std::string bytes = take_text(take<std::uint8_t>());
        std::int64_t number = 0;
        if (bytes.size() > 8) file_.refuse("has a whole number of more than 64 bits.");
        for (std::size_t i = bytes.size(); i-- > 0;)
          number = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) << 8 |
                                             static_cast<unsigned char>(bytes[i]));
        if (!bytes.empty() && bytes.size() < 8 && (bytes.back() & 0x80) != 0)
          number -= std::int64_t{1} << (8 * bytes.size());
        push_number(static_cast<double>(number));
        return true;
      }
      case 'G': {  // big endian
        std::string bytes = take_text(8);
        std::ranges::reverse(bytes);
        push_number(ByteView(bytes, file_.where()).at<double>(0));
        return true;
      }
      default: return false;
    }
  }

  bool put_text(char code) {
    const auto text = [&](std::uint64_t size) {
      push({.kind = Kind::text, .text = take_text(size)});
      return true;
    };
    switch (code) {
      case 'X':
      case 'B':
      case 'T': return text(take<std::uint32_t>());
      case '\x8c':
      case 'U':
      case 'C': return text(take<std::uint8_t>());
      case '\x8d':
      case '\x8e': return text(take<std::uint64_t>());
      default: return false;
    }
  }

  bool put_list(char code) {
    const auto add = [&](const std::vector<Pickled>& values, Kind kind) {
      if (top()->kind != kind && top()->kind != Kind::call)
        file_.refuse("is damaged: its pickled program fills no list.");
      top()->items.insert(top()->items.end(), values.begin(), values.end());
      return true;
    };
    switch (code) {
      case '(': marks_.push_back(stack_.size()); return true;
      case ')':
      case ']':
      case '\x8f': push({.kind = Kind::list}); return true;
      case '}': push({.kind = Kind::dict}); return true;
      case 't': {
        std::vector<Pickled> values = pop_to_mark();
        push({.kind = Kind::list, .items = std::move(values)});
        return true;
      }
      case '\x85':
      case '\x86':
      case '\x87': {
        std::vector<Pickled> values(static_cast<std::size_t>(code - '\x85') + 1);
        for (auto value = values.rbegin(); value != values.rend(); ++value) *value = pop();
        push({.kind = Kind::list, .items = std::move(values)});
        return true;
      }
      case 'a': {
        const Pickled value = pop();
        return add({value}, Kind::list);
      }
      case 'e':
      case '\x90': return add(pop_to_mark(), Kind::list);
      case 's': {
        const Pickled value = pop(), key = pop();
        return add({key, value}, Kind::dict);
      }
      case 'u': {
        std::vector<Pickled> values = pop_to_mark();
        if (values.size() % 2 != 0)
          file_.refuse("is damaged: its pickled program has a key without a value.");
        return add(values, Kind::dict);
      }
      default: return false;
    }
  }

  bool use_memory(char code) {
    const auto get = [&](std::uint32_t place) {
      const auto found = memory_.find(place);
      if (found == memory_.end()) file_.refuse("is damaged: its pickled program reads what it did not keep.");
      stack_.push_back(found->second);
      return true;
    };
    switch (code) {
      case 'q': memory_.insert_or_assign(take<std::uint8_t>(), top()); return true;
      case 'r': memory_.insert_or_assign(take<std::uint32_t>(), top()); return true;
      case '\x94': memory_.insert_or_assign(static_cast<std::uint32_t>(memory_.size()), top()); return true;
      case 'h': return get(take<std::uint8_t>());
      case 'j': return get(take<std::uint32_t>());
      default: return false;
    }
  }

  /// Names, and what they would make.
  bool make(char code) {
    switch (code) {
      case '\x80': take<std::uint8_t>(); return true;   // the protocol
      case '\x95': take<std::uint64_t>(); return true;  // the size of a frame
      case '0': pop(); return true;
      case 'c': {
        const std::string module = take_line();
        push({.kind = Kind::global, .text = module + " " + take_line()});
        return true;
      }
      case '\x93': {
        const Pickled name = pop(), module = pop();
        push({.kind = Kind::global, .text = module->text + " " + name->text});
        return true;
      }
      case 'Q': {
        const Pickled name = pop();
        push({.kind = Kind::persistent, .items = {name}});
        return true;
      }
      case 'R':
      case '\x81': {
        const Pickled arguments = pop(), function = pop();
        const bool is_dict = function->text == "collections OrderedDict" || function->text == "builtins dict";
        if (is_dict && arguments->items.empty()) {
          push({.kind = Kind::dict});
        } else {
          push({.kind = Kind::call, .text = function->text, .items = {arguments}});
        }
        return true;
      }
      case 'b': {  // attributes of an object: those of a dictionary say nothing about its entries
        pop();
        return true;
      }
      default: return false;
    }
  }

  ByteView file_;
  std::uint64_t at_ = 0;
  std::deque<PickledValue>& values_;
  std::vector<PickledValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint32_t, PickledValue*> memory_;
};

}  // namespace

Pickled read_pickle(std::string_view bytes, std::deque<PickledValue>& values, const std::string& where) {
  return PickleReader(bytes, values, where).read();
}

}  // namespace lagtape::foreign
