// The worker's side of the protocol: reads requests, keeps the mapped buffers, hands the rest to a driver.
#pragma once
#include "card/worker/driver.h"
#include "card/worker/mapping.h"
#include <map>

namespace opsight::card {

class Server {
public:
  /// Serves until the tool closes the socket; the process's exit status.
  int serve();

private:
  struct Reply {
    wire::Outcome outcome = wire::Outcome::Ok;
    std::string text;    // of an error
    std::string payload; // of success
  };
  Reply answer(wire::Datagram &request);
  Reply hello(wire::Reader &reader);
  Reply load(wire::Reader &reader, int fd);
  Reply map(wire::Reader &reader, int fd);
  Reply unmap(wire::Reader &reader);
  Reply launch(wire::Reader &reader, uint32_t sequence);
  Reply peak(wire::Reader &reader);

  std::unique_ptr<Driver> driver_;
  std::map<uint32_t, std::unique_ptr<GuardedMapping>> mappings_;
};

} // namespace opsight::card
