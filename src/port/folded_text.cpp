#include "port/folded_text.h"
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>

namespace opsight::port {

/// One code point at `at`, and how many bytes it takes; a broken byte stands for itself.
static std::pair<char32_t, size_t> decode(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 1;
  if (length == 1 || at + length > text.size())
    return {lead, 1};
  char32_t code = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (byte(at + i) >> 6 != 2)
      return {lead, 1};
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  return {code, length};
}

/// Spellings that mean the same in a request.
static const std::map<char32_t, std::string_view> &foldings() {
  static const std::map<char32_t, std::string_view> table = {
      {U'。', "\n"}, {U'、', "、"}, {U'×', "x"},  {U'✕', "x"},  {U'≤', "<="}, {U'⩽', "<="}, {U'≥', ">="},
      {U'⩾', ">="},  {U'–', "-"},   {U'—', ","},  {U'−', "-"},  {U'‑', "-"},  {U'\u3000', " "}, {U'\u00A0', " "},
      {U'“', " "},   {U'”', " "},   {U'‘', " "},  {U'’', " "},  {U'「', " "}, {U'」', " "},  {U'《', " "},
      {U'》', " "},  {U'…', ","},   {U'·', "*"},  {U'⁻', "^-"}, {U'"', " "},  {U'\'', " "},  {U'`', " "},
      {U'\t', " "},  {U'\r', " "},  {U'→', " "},  {U'⁰', "0"},  {U'¹', "1"},  {U'²', "2"},   {U'³', "3"},
      {U'⁴', "4"},   {U'⁵', "5"},   {U'⁶', "6"},  {U'⁷', "7"},  {U'⁸', "8"},  {U'⁹', "9"}};
  return table;
}

/// Traditional characters of the words that requests use, as their simplified forms, in which the tables are written.
static const std::map<char32_t, std::string_view> &simplified() {
  static const std::map<char32_t, std::string_view> table = {
      {U'這', "这"}, {U'個', "个"}, {U'譯', "译"}, {U'國', "国"}, {U'產', "产"}, {U'實', "实"}, {U'現', "现"},
      {U'誤', "误"}, {U'於', "于"}, {U'過', "过"}, {U'導', "导"}, {U'須', "须"}, {U'階', "阶"}, {U'優', "优"},
      {U'陣', "阵"}, {U'夠', "够"}, {U'會', "会"}, {U'將', "将"}, {U'請', "请"}, {U'確', "确"}, {U'轉', "转"},
      {U'換', "换"}, {U'寫', "写"}, {U'遷', "迁"}, {U'達', "达"}, {U'準', "准"}, {U'儲', "储"}, {U'緩', "缓"},
      {U'內', "内"}, {U'規', "规"}, {U'歸', "归"}, {U'約', "约"}, {U'開', "开"}, {U'長', "长"}, {U'塊', "块"},
      {U'減', "减"}, {U'後', "后"}, {U'樸', "朴"}, {U'並', "并"}, {U'與', "与"}, {U'為', "为"}, {U'設', "设"},
      {U'選', "选"}, {U'應', "应"}, {U'該', "该"}, {U'來', "来"}, {U'對', "对"}, {U'給', "给"}, {U'衝', "冲"},
      {U'體', "体"}, {U'張', "张"}, {U'條', "条"}, {U'數', "数"}, {U'處', "处"}, {U'幫', "帮"}, {U'讓', "让"},
      {U'間', "间"}, {U'時', "时"}, {U'進', "进"}, {U'順', "顺"}, {U'統', "统"}, {U'採', "采"}, {U'結', "结"},
      {U'終', "终"}, {U'變', "变"}, {U'當', "当"}, {U'務', "务"}, {U'參', "参"}, {U'廠', "厂"}, {U'顯', "显"},
      {U'總', "总"}, {U'續', "续"}, {U'連', "连"}, {U'別', "别"}, {U'證', "证"}, {U'調', "调"}, {U'憶', "忆"},
      {U'記', "记"}, {U'級', "级"}, {U'從', "从"}, {U'據', "据"}, {U'頁', "页"}, {U'狀', "状"}, {U'徑', "径"},
      {U'亂', "乱"}, {U'圖', "图"}, {U'碼', "码"}, {U'驅', "驱"}, {U'動', "动"}, {U'層', "层"}, {U'節', "节"},
      {U'輸', "输"}, {U'負', "负"}, {U'標', "标"}, {U'單', "单"}, {U'雙', "双"}, {U'際', "际"}, {U'題', "题"},
      {U'問', "问"}, {U'損', "损"}, {U'則', "则"}, {U'認', "认"}, {U'運', "运"}, {U'執', "执"}, {U'視', "视"},
      {U'點', "点"}, {U'無', "无"}, {U'沒', "没"}, {U'僅', "仅"}, {U'計', "计"}, {U'種', "种"}, {U'樣', "样"}};
  return table;
}

FoldedText fold(std::string_view original) {
  FoldedText folded;
  auto add = [&](std::string_view bytes, size_t from) {
    folded.text += bytes;
    folded.origin.insert(folded.origin.end(), bytes.size(), from);
  };
  for (size_t at = 0; at < original.size();) {
    auto [code, length] = decode(original, at);
    if (code >= 0xFF01 && code <= 0xFF5E)
      code -= 0xFF01 - '!'; // full-width form of an ASCII character
    if (auto found = foldings().find(code); found != foldings().end())
      add(found->second, at);
    else if (auto simple = simplified().find(code); simple != simplified().end())
      add(simple->second, at);
    else if (code < 0x80) {
      char c = static_cast<char>(std::tolower(static_cast<int>(code)));
      add(std::string_view(&c, 1), at);
    } else
      add(original.substr(at, length), at);
    at += length;
  }
  folded.origin.push_back(original.size());
  return folded;
}

static bool endsClause(const std::string &text, size_t i) {
  if (text[i] != '.')
    return std::string_view(",;:!?()\n").find(text[i]) != std::string_view::npos;
  return i + 1 >= text.size() || !std::isdigit(static_cast<unsigned char>(text[i + 1]));
}

/// "K, V": this comma joins one name.
static bool joinsKeyAndValue(const std::string &text, size_t comma) {
  auto letter = [&](size_t i, char wanted) {
    auto alone = [&](size_t j) { return j >= text.size() || !std::isalnum(static_cast<unsigned char>(text[j])); };
    return i < text.size() && text[i] == wanted && alone(i - 1) && alone(i + 1);
  };
  size_t next = text.find_first_not_of(' ', comma + 1);
  return text[comma] == ',' && comma > 0 && letter(comma - 1, 'k') && next != text.npos && letter(next, 'v');
}

std::vector<Span> clauses(const FoldedText &folded) {
  const std::string &text = folded.text;
  std::vector<Span> found;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    // "opencl:pocl" is one name: a colon between letters ends nothing.
    bool inName = i > 0 && i + 1 < text.size() && text[i] == ':' &&
                  std::isalnum(static_cast<unsigned char>(text[i - 1])) &&
                  std::isalnum(static_cast<unsigned char>(text[i + 1]));
    if (i < text.size() && (inName || joinsKeyAndValue(text, i) || !endsClause(text, i)))
      continue;
    size_t first = begin, last = i;
    while (first < last && text[first] == ' ')
      ++first;
    while (last > first && text[last - 1] == ' ')
      --last;
    if (first < last)
      found.push_back({first, last});
    begin = i + 1;
  }
  return found;
}

unsigned columnOf(std::string_view original, size_t offset) {
  auto prefix = original.substr(0, std::min(offset, original.size()));
  return 1 + static_cast<unsigned>(std::ranges::count_if(prefix, [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace opsight::port
