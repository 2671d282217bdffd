// SPDX-License-Identifier: Apache-2.0
#pragma once

// The terminals of Lark's standard import "common", in GBNF. Where Lark's own pattern leans on the
// lexer taking the shortest match (ESCAPED_STRING, C_COMMENT), the set of those matches stands
// here.

#include <string_view>

namespace daybreak::grammar {

inline constexpr std::string_view kLarkCommonTerminals = R"gbnf(
DIGIT ::= [0-9]
HEXDIGIT ::= [0-9a-fA-F]
INT ::= [0-9]+
SIGNED_INT ::= [+\-]? INT
DECIMAL ::= INT "." INT? | "." INT
FLOAT ::= INT [eE] SIGNED_INT | DECIMAL ([eE] SIGNED_INT)?
SIGNED_FLOAT ::= [+\-]? FLOAT
NUMBER ::= FLOAT | INT
SIGNED_NUMBER ::= [+\-]? NUMBER
ESCAPED_STRING ::= "\"" ([^"\\\n] | "\\" [^\n])* "\""
LCASE_LETTER ::= [a-z]
UCASE_LETTER ::= [A-Z]
LETTER ::= [a-zA-Z]
WORD ::= [a-zA-Z]+
CNAME ::= [a-zA-Z_] [a-zA-Z0-9_]*
WS_INLINE ::= [ \t]+
WS ::= [ \t\f\r\n]+
CR ::= "\r"
LF ::= "\n"
NEWLINE ::= ("\r"? "\n")+
SH_COMMENT ::= "#" [^\n]*
CPP_COMMENT ::= "//" [^\n]*
C_COMMENT ::= "/*" ([^*] | "*"+ [^*/])* "*"+ "/"
SQL_COMMENT ::= "--" [^\n]*
)gbnf";

}  // namespace daybreak::grammar
