#include "card/message_text.h"
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace opsight::card {

namespace {
constexpr size_t maxPrinted = 1 << 20;

/// One conversion "%-8.3llx": what surrounds the length modifier, which is ours to choose.
struct Conversion {
  std::string flags; // flags, width, precision
  char letter = 0;   // 0: the text ended within it
  size_t end = 0;
};

Conversion parseConversion(const std::string &format, size_t at) {
  Conversion c;
  size_t i = at + 1;
  while (i < format.size() && std::strchr("-+ #0123456789.", format[i]))
    c.flags += format[i++];
  while (i < format.size() && std::strchr("hlLqjzt", format[i]))
    ++i;
  if (i < format.size())
    c.letter = format[i++];
  c.end = i;
  // A width of nine digits would make a kernel print a gigabyte.
  if (c.flags.size() > 8)
    c.flags.clear();
  return c;
}

bool has(const char *set, char c) { return c && std::strchr(set, c); }

/// "l" or "ll" in the format mean 64 bits; otherwise the value is an int whose upper half is a sign.
bool isLong(const std::string &format, size_t from, size_t to) {
  return format.substr(from, to - from).find_first_of("lqjzt") != std::string::npos;
}

std::string convert(const Conversion &c, uint64_t bits, bool wide) {
  char text[512];
  std::string spec = "%" + c.flags;
  int n = 0;
  if (has("di", c.letter))
    n = std::snprintf(text, sizeof text, (spec + "lld").c_str(),
                      wide ? static_cast<long long>(bits) : static_cast<long long>(static_cast<int32_t>(bits)));
  else if (has("uxXo", c.letter))
    n = std::snprintf(text, sizeof text, (spec + "ll" + c.letter).c_str(),
                      wide ? static_cast<unsigned long long>(bits) : static_cast<unsigned long long>(static_cast<uint32_t>(bits)));
  else if (has("fFeEgGaA", c.letter))
    n = std::snprintf(text, sizeof text, (spec + c.letter).c_str(), std::bit_cast<double>(bits));
  else if (c.letter == 'c')
    return std::string(1, static_cast<char>(bits));
  else if (c.letter == 'p')
    n = std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  else
    return "%" + c.flags + (c.letter ? std::string(1, c.letter) : "");
  return std::string(text, static_cast<size_t>(std::clamp(n, 0, static_cast<int>(sizeof text) - 1)));
}
} // namespace

std::string formatMessage(const std::string &format, std::span<const uint64_t> arguments,
                          std::span<const std::string> texts) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    Conversion c = parseConversion(format, i);
    if (c.letter == '%')
      out += '%';
    else if (c.letter == 's' && next < arguments.size() && arguments[next] < texts.size())
      out += texts[arguments[next++]];
    else if (next < arguments.size())
      out += convert(c, arguments[next++], isLong(format, i, c.end));
    else
      out += format.substr(i, c.end - i);
    i = c.end;
  }
  return out;
}

void resetMessages(std::span<std::byte> buffer) {
  MessageHeader header{0, messageWords, 0, 0};
  std::memcpy(buffer.data(), &header, sizeof header);
}

Messages readMessages(std::span<const std::byte> buffer, const std::vector<std::string> &formats) {
  Messages messages;
  MessageHeader header;
  std::memcpy(&header, buffer.data(), sizeof header);
  messages.asserted = header.asserted != 0;
  uint64_t used = std::min<uint64_t>(header.used, (buffer.size() - sizeof header) / 4);
  auto word = [&](uint64_t i) {
    uint32_t value;
    std::memcpy(&value, buffer.data() + sizeof header + 4 * i, sizeof value);
    return value;
  };
  for (uint64_t i = 0; i + 2 <= used && messages.printed.size() < maxPrinted;) {
    uint32_t id = word(i), count = word(i + 1);
    if (id >= formats.size() || count > used - i - 2)
      break; // a record that did not fit, or garbage
    std::vector<uint64_t> arguments;
    for (uint32_t a = 0; a + 1 < count; a += 2)
      arguments.push_back(word(i + 2 + a) | uint64_t(word(i + 3 + a)) << 32);
    std::string text = formatMessage(formats[id], arguments, formats);
    if (messages.unmet.empty() && id + 1 == header.unmet) {
      messages.unmet = text;
      while (messages.unmet.ends_with('\n'))
        messages.unmet.pop_back();
    }
    if (messages.asserted && messages.assertion.empty() && formats[id].find("ssertion") != std::string::npos)
      messages.assertion = text;
    messages.printed += text;
    i += 2 + count;
  }
  if (header.used > used)
    messages.printed += "\n(more was printed than the message buffer holds)\n";
  if (messages.asserted && messages.assertion.empty())
    messages.assertion = "a device-side assert failed";
  if (header.unmet != 0 && messages.unmet.empty())
    messages.unmet = "threads of a block did not meet at a barrier";
  return messages;
}

} // namespace opsight::card
