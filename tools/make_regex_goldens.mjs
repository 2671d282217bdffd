#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Writes golden/grammar/regex.jsonl: patterns with strings that node's RegExp (flag u) finds them in
// and strings that it does not. A search tries every code point by itself (flag y): the u flag's own
// search also stops between the halves of a surrogate pair, which ECMA-262 does not.
//
//     node tools/make_regex_goldens.mjs > golden/grammar/regex.jsonl
//     node tools/make_regex_goldens.mjs SEED PATTERNS STRINGS    more of them, for a longer check

const [seed0, patterns, strings] = [5, 260, 14].map((d, i) => Number(process.argv[i + 2] ?? d));
let seed = seed0;
const below = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor(((seed >>> 8) / 0x1000000) * n);
};
const pick = (list) => list[below(list.length)];

const kWritten = [
  '^a*$', 'a+', '^\\n$', 'a*^b', '^a|b$', '$', '^', '^$', 'a$b', '(?:^|c)a(?:$|b)', '^(?:$|a)*',
  '^((?!ab).)*$', '^(?=.*a)(?=.*b)(?=.*[^ab]).{3,5}$', '(?!(?!a))b?', '(?=a(?=b(?=c)))', '(?!$)a?$',
  '\\bab\\b', '\\Ba', '^\\b', '\\b$', '\\b\\B', '(?:\\b|a)+b', '^(?:(?=a)|b)*c?$', '^(?:(?=a)){2}a',
  '^[^]$', '^[]|a', '^.$', '^\\S+\\s\\S+$', '^[\\d-x]$'.replace('\\d-', '\\d\\-'), '^\\u{1F600}?$',
  '^[\\ud83d\\ude00]$', '\\ud83d', '^[^a]$', '^(a{2}){2}$', '^(?:a?){3}$', '^(?:a|ab)(?:c|bcd)?$',
  '^(?<x>a)(?<y>b)$', '^a{0}$', '^a{2,}?$', '^\\cJ\\x41\\u0042\\0?$', '^[\\b]$', '^(?:)$', '|a^',
];

const kAlphabet = ['a', 'b', 'c', 'A', '_', '0', '9', '-', ' ', '\n', '\u2028', '\u00e4', '\u{1F600}',
  '\ud7ff', '\ue000', '\u00a0', '\u2003', '\ufeff'];
const kLiterals = ['a', 'a', 'b', 'b', 'c', 'A', '_', '0', '-', ' ', '\\n', '\\.', '\\u{1F600}', '\u{1F600}',
  '\\ud83d\\ude00', '\\u00e4', '\\x61', '\\t', '\\ud83d', '\\cJ', '\\/', '\\$'];
const kMembers = ['a', 'b', 'a-c', '\\d', '\\w', '\\s', '\\W', '\\D', '\\S', '_', '0-9', '\\b', '\\-', '\\n', '^',
  '\u00e4-\u{1F600}', '\\u{1F600}', 'A-z', '\\ud800-\\udfff', '.', '*'];
const kClasses = ['.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '[^]', '[]'];
const kQuantifiers = ['*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}', '{0}', '{1,3}', '{2,}?'];

let names = 0;
const many = (most, make) => Array.from({length: below(most)}, make).join('');

function characters() {
  const kind = below(12);
  if (kind < 7) return pick(kLiterals);
  if (kind < 9) return `[${pick(['', '', '^'])}${pick(kMembers)}${many(4, () => pick(kMembers))}]`;
  return pick(kClasses);
}

function term(depth) {
  const kind = below(depth > 0 ? 12 : 6);
  if (kind === 9) return `(?=${choice(depth - 1)})`;
  if (kind === 10) return `(?!${choice(depth - 1)})`;
  if (kind === 11) return pick(['^', '$', '\\b', '\\B']);
  const atom = kind < 6 ? characters() : pick(['(', '(?:', `(?<n${names++}>`]) + choice(depth - 1) + ')';
  return atom + (below(5) < 2 ? pick(kQuantifiers) : '');
}

const sequence = (depth) => many(5, () => term(depth));
function choice(depth) {
  let out = sequence(depth);
  while (below(4) === 0) out += '|' + sequence(depth);
  return out;
}

function found(regexp, text) {
  for (let at = 0; ; at += text.codePointAt(at) > 0xffff ? 2 : 1) {
    regexp.lastIndex = at;
    if (regexp.test(text)) return true;
    if (at >= text.length) return false;
  }
}

for (let i = 0; i < patterns; ++i) {
  const pattern = kWritten[i] ?? choice(3);
  const regexp = new RegExp(pattern, 'uy');
  const lists = {matches: new Set(), others: new Set()};
  for (let j = 0; j < strings; ++j) {
    const letters = below(3) ? ['a', 'b', 'c', 'a', 'b', '0', '_', ' '] : kAlphabet;
    const text = many(j < 2 ? 2 : 8, () => pick(letters));
    lists[found(regexp, text) ? 'matches' : 'others'].add(text);
  }
  console.log(JSON.stringify({pattern, matches: [...lists.matches], others: [...lists.others]}));
}
