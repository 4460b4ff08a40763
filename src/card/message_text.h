// What kernels printed, out of the message buffer (message.h). The buffer was written by the kernel, so every number in
// it is checked.
#pragma once
#include "card/message.h"
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace opsight::card {

struct Messages {
  std::string printed;      // in the order of arrival
  bool asserted = false;
  std::string assertion;    // of the first failed assert
  std::string unmet;        // where threads did not meet at a barrier; empty: they did, everywhere
};

/// Clears the buffer for a launch.
void resetMessages(std::span<std::byte> buffer);
Messages readMessages(std::span<const std::byte> buffer, const std::vector<std::string> &formats);

/// printf of 64-bit arguments; conversions that have no argument are shown as they are written, and so is %s of a number
/// that is none of `texts`.
std::string formatMessage(const std::string &format, std::span<const uint64_t> arguments,
                          std::span<const std::string> texts = {});

inline constexpr uint64_t messageBufferBytes = sizeof(MessageHeader) + 4ull * messageWords;

} // namespace opsight::card
