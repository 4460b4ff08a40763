// The walk through a port file, shared by port_file.cpp (the file as a whole) and port_file_sections.cpp (what its
// sections hold).
#pragma once
#include "port/port_file.h"
#include <toml++/toml.h>

namespace opsight::port {

/// Walks one parsed file; each section has its table of keys and what reads them.
class PortFileReader {
public:
  explicit PortFileReader(std::filesystem::path path) : path(std::move(path)) {}
  Result<Request> read(const toml::table &root);

private:
  using Handler = Status (PortFileReader::*)(const std::string &key, const toml::node &node);
  struct Entry {
    std::string key;
    Handler handler;
  };

  SourcePlace placeOf(const toml::source_region &source) const {
    return {path.string(), source.begin.line, source.begin.column};
  }
  Status checkKeys(const toml::table &table, const std::string &section, const std::vector<std::string> &known) const;
  static std::vector<std::string> keysOf(const std::vector<Entry> &entries);
  Status walk(const toml::table &table, const std::string &section, const std::vector<Entry> &entries);
  Status section(const std::string &key, const toml::node &node, const std::vector<Entry> &entries);
  Result<Placed> text(const std::string &key, const toml::node &node) const;
  Result<double> positive(const std::string &key, const toml::node &node) const;
  Result<Placed> expression(const std::string &key, const toml::node &node) const;
  Result<std::vector<Placed>> expressions(const std::string &key, const toml::node &node) const;
  static Status keep(Result<Placed> value, std::string &into);
  static Status keep(Result<Placed> value, Placed &into);
  Status checked(const Placed &text, bool tensorsToo = false) const {
    return checkExpression(*request.op, text, tensorsToo, request.parameters);
  }
  Status wrongType(const std::string &key, const char *expected, const toml::node &node) const {
    return userError("'" + key + "' must be " + expected, {}, placeOf(node.source()));
  }

  Status readOperator(const toml::table &root);
  Status finish(const toml::table &root);
  Status declare(const toml::table &root);
  Status readSymbols(const toml::table &root, std::vector<ops::DeclaredSymbol> &symbols) const;
  Result<ops::DeclaredBuffer> readBuffer(const std::string &name, const toml::node &node,
                                         std::span<const std::string> symbols) const;
  Status readType(const toml::node &node, ops::DeclaredBuffer &buffer) const;
  Status readFill(const toml::node &node, ops::DeclaredBuffer &buffer) const;
  Status readRole(const toml::node &node, ops::DeclaredBuffer &buffer) const;
  Status declaredOnly(const std::string &key, const toml::node &node);
  Status launches(const toml::array &array);
  Status declaredReference(const std::string &key, const toml::node &node);
  Status referenceSource(const std::string &key, const toml::node &node);
  Status referenceFunction(const std::string &key, const toml::node &node) { return keep(text(key, node), request.reference.function); }
  Status referenceArguments(const std::string &key, const toml::node &node);
  Status nothing(const std::string &, const toml::node &) { return {}; }
  Status source(const std::string &key, const toml::node &node);
  Status kernel(const std::string &key, const toml::node &node) { return keep(text(key, node), request.kernel); }
  Status card(const std::string &key, const toml::node &node);
  Status launch(const std::string &key, const toml::node &node);
  Status grid(const std::string &key, const toml::node &node);
  Status block(const std::string &key, const toml::node &node);
  Status shared(const std::string &key, const toml::node &node);
  Status arguments(const std::string &key, const toml::node &node);
  Status defines(const std::string &key, const toml::node &node);
  Status options(const std::string &key, const toml::node &node);
  Status limits(const std::string &key, const toml::node &node);
  Status readParameters(const toml::table &root);
  Status readParameter(Parameter &parameter, const toml::table &table) const;
  Status readRules(Parameter &parameter, const toml::node *must) const;
  Status checkParameter(const Parameter &parameter, const SourcePlace &where) const;
  Result<std::vector<int64_t>> wholeNumbers(const std::string &key, const toml::node &node) const;
  Status recipe(const std::string &key, const toml::node &node);
  Status mapping(const std::string &key, const toml::node &node);
  Status keeps(const std::string &key, const toml::node &node);
  Status operations(const std::string &key, const toml::node &node);
  Status workingSet(const std::string &key, const toml::node &node);
  Status accept(const std::string &key, const toml::node &node);
  Status maxError(const std::string &key, const toml::node &node);
  Status minSpeed(const std::string &key, const toml::node &node);
  Status reference(const std::string &key, const toml::node &node);
  Status ask(const std::string &key, const toml::node &node);
  Status hints(const std::string &key, const toml::node &node);
  Status cases(const std::string &key, const toml::node &node);
  Status oneCase(const toml::table &table);

  std::filesystem::path path;
  Request request;
  std::map<std::string, SourcePlace> optionPlaces;
};

} // namespace opsight::port
