# The query language of vsl-query(7) over the tokens of tokens.ts. Lines are joined by "or"; "and" binds
# tighter, "not" tightest and never twice. The grammar knows no tag names and no number formats: check-query.ts does.

@preprocessor typescript

@{%
import { binary, comparison, negation, selection } from './query-ast.ts';
import type { Token, TokenType } from './tokens.ts';

const is = (type: TokenType) => ({ type, test: (t: Token) => t.type === type });
const word = is('word');
const string = is('string');
const vxid = is('vxid');
const and = is('and');
const or = is('or');
const not = is('not');
const eq = is('eq');
const ne = is('ne');
const cmp = is('cmp');
const re = is('re');
const lp = is('lp');
const rp = is('rp');
const lb = is('lb');
const rb = is('rb');
const lc = is('lc');
const rc = is('rc');
const comma = is('comma');
const colon = is('colon');
const nl = is('nl');
const eoi = is('eoi');
%}

query -> lines %nl:? %eoi {% (d) => d[0] %}

lines -> lines %nl either {% (d) => binary('or', d[0], d[2]) %}
       | either {% (d) => d[0] %}

either -> either %or both {% (d) => binary('or', d[0], d[2]) %}
        | both {% (d) => d[0] %}

both -> both %and maybe {% (d) => binary('and', d[0], d[2]) %}
      | maybe {% (d) => d[0] %}

maybe -> %not single {% (d) => negation(d[1]) %}
       | single {% (d) => d[0] %}

single -> %lp either %rp {% (d) => d[1] %}
        | select {% (d) => comparison(d[0], null, null) %}
        | select %cmp value {% (d) => comparison(d[0], d[1], d[2]) %}
        | select text value {% (d) => comparison(d[0], d[1], d[2]) %}
        | select %re value {% (d) => comparison(d[0], d[1], d[2]) %}

text -> %eq {% (d) => d[0] %}
      | %ne {% (d) => d[0] %}

select -> level:? tags prefix:? field:? {% (d) => selection(d[0], d[1], d[2], d[3]) %}

level -> %lc value %rc {% (d) => d[1] %}

tags -> tags %comma tag {% (d) => [...d[0], d[2]] %}
      | tag {% (d) => [d[0]] %}

tag -> value {% (d) => d[0] %}
     | %vxid {% (d) => d[0] %}

prefix -> %colon value {% (d) => d[1] %}

field -> %lb value %rb {% (d) => ({ value: d[1], close: d[2] }) %}

value -> %word {% (d) => d[0] %}
       | %string {% (d) => d[0] %}
