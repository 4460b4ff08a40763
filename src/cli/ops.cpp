// opsight ops: the operators, their symbols, tensors and options, and how far each has been proved on which card.
#include "cli/screen.h"
#include "cli/verbs.h"
#include "report/catalogue.h"
#include <cstdio>
#include <unistd.h>

namespace opsight::cli {

namespace {

struct Options {
  std::string name;
  bool json = false;
};

int run(const Options &options) {
  std::vector<const ops::Operator *> all = ops::allOperators();
  if (!options.name.empty()) {
    Result<const ops::Operator *> op = ops::findOperator(options.name);
    if (!op)
      return complain(op.error(), Color::Auto);
    all = {*op};
  }
  std::vector<report::OperatorEntry> entries;
  for (const ops::Operator *op : all) {
    Result<std::vector<port::Proof>> proofs = port::proofsOf(std::string(op->name()), port::verdictLogFile());
    if (!proofs)
      std::fprintf(stderr, "warning: %s\n", describe(proofs.error()).c_str());
    entries.push_back({op, proofs ? std::move(*proofs) : std::vector<port::Proof>()});
  }
  std::string text = options.json ? report::operatorsJson(entries) : report::operatorsText(entries, columnsOf(STDOUT_FILENO));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

} // namespace

Verb addOps(CLI::App &app) {
  CLI::App *command = app.add_subcommand("ops", "the operators, their options, and how far each has been proved on which card");
  command->description("Example:\n  opsight ops\n  opsight ops scaled_dot_product_attention --json");
  auto options = std::make_shared<Options>();
  command->add_option("NAME", options->name, "one operator");
  command->add_flag("--json", options->json, "as JSON and nothing else");
  return {command, [options] { return run(*options); }};
}

} // namespace opsight::cli
