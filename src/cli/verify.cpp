// opsight verify: the kernel judged as it stands.
#include "cli/judging.h"

namespace opsight::cli {

Verb addVerify(CLI::App &app) {
  CLI::App *command = app.add_subcommand("verify", "judge the kernel as it stands; propose nothing");
  command->description("Example:\n  opsight verify examples/sdpa/port_plain.toml --accuracy-only\n  opsight verify naive.cu "
                       "--operator scaled_dot_product_attention --grid \"ceil_div(L, 64), H, B\" --block 64\n  opsight verify examples/saxpy/verify.toml\n\n"
                       "Judges a CUDA kernel unchanged, on the card cpu unless told. A kernel that is no operator of Opsight's "
                       "(operator = \"none\", docs/any-kernel.md) is judged for accuracy alone. Exit code 0: PASS, 1: FAIL.");
  auto options = std::make_shared<JudgingOptions>();
  addJudgingOptions(*command, *options);
  return {command, [options] { return runJudging(port::Verb::Verify, *options); }};
}

} // namespace opsight::cli
