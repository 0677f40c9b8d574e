#pragma once

// fields() of a record whose members are called in files as they are in code:
//   ABLATE_FIELDS(name, length, unit)

#define ABLATE_FIELDS(...) \
  static void fields(auto& o, auto&& visit) { ABLATE_EXPAND(ABLATE_VISIT(__VA_ARGS__)) }

// A macro is not expanded inside itself, so each member leaves a call that the next scan expands.
#define ABLATE_VISIT(member, ...) \
  visit(#member, o.member);       \
  __VA_OPT__(ABLATE_VISIT_REST ABLATE_PARENTHESES(__VA_ARGS__))
#define ABLATE_VISIT_REST() ABLATE_VISIT
#define ABLATE_PARENTHESES ()
#define ABLATE_EXPAND(...) \
  ABLATE_EXPAND3(ABLATE_EXPAND3(ABLATE_EXPAND3(ABLATE_EXPAND3(__VA_ARGS__))))
#define ABLATE_EXPAND3(...) \
  ABLATE_EXPAND2(ABLATE_EXPAND2(ABLATE_EXPAND2(ABLATE_EXPAND2(__VA_ARGS__))))
#define ABLATE_EXPAND2(...) \
  ABLATE_EXPAND1(ABLATE_EXPAND1(ABLATE_EXPAND1(ABLATE_EXPAND1(__VA_ARGS__))))
#define ABLATE_EXPAND1(...) __VA_ARGS__
