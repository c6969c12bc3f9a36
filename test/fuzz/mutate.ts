// Damages a text the way files get damaged: bytes changed, runs cut, doubled or moved, words of the language put in.

import type { Random } from './random.ts';

const WORDS = [
  ...[
    'sub',
    'vcl_recv',
    'req.http.x',
    'set',
    'unset',
    'return',
    'include',
    'import',
    'new',
    'call',
    'acl',
    'backend',
  ],
  ...[
    '{',
    '}',
    '(',
    ')',
    ';',
    '"',
    '{"',
    '"}',
    '"""',
    '/*',
    '*/',
    '#',
    '+',
    '-',
    '~',
    '!',
    ':',
    '.',
    ',',
    '=',
    '==',
    '%',
  ],
  ...[
    '0',
    '1y',
    '99999999999999999',
    '1.5',
    'C{',
    '}C',
    'é',
    '\0',
    '\x7f',
    '\u2028',
    '\ud800',
    'vcl 4.0;',
    '"(a+)+$"',
  ],
];

export function mutate(text: string, random: Random): string {
  let out = text;
  for (let n = 1 + random.below(4); n > 0; n--) {
    const at = random.below(out.length + 1);
    const length = random.below(12);
    switch (random.below(6)) {
      case 0:
        out = out.slice(0, at) + String.fromCharCode(random.below(256)) + out.slice(at + 1);
        break;
      case 1:
        out = out.slice(0, at) + out.slice(at + length);
        break;
      case 2:
        out = out.slice(0, at) + out.slice(at, at + length) + out.slice(at);
        break;
      case 3: {
        const cut = out.slice(at, at + length);
        const rest = out.slice(0, at) + out.slice(at + length);
        const to = random.below(rest.length + 1);
        out = rest.slice(0, to) + cut + rest.slice(to);
        break;
      }
      case 4:
        out = out.slice(0, at);
        break;
      default:
        out = `${out.slice(0, at)}${random.pick(['', ' '])}${random.pick(WORDS)}${random.pick(['', ' '])}${out.slice(at)}`;
    }
  }
  return out;
}
