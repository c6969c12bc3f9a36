// Signatures: what is read, what is refused, and that no text of an extension becomes code.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSignature, SignatureError } from '../../../daemon/vcl/check/signature.ts';
import { runs } from '../../harness/runs.ts';

describe('signatures', () => {
  it('are read with everything they may have', () => {
    const sig = parseSignature(
      'STRING f(STRANDS, INT a=-3, [REAL b], [BYTES c=2KB], ENUM {x, Y_2} d="Y_2", PRIV_CALL, PRIV_TOP p, DURATION e = 1.5m)',
    );
    expect(sig.returns).toBe('STRING');
    expect(sig.name).toBe('f');
    expect(sig.params.map((p) => [p.priv ?? p.type, p.name, p.optional, p.fallback])).toEqual([
      ['STRING', '', false, undefined],
      ['INT', 'a', false, -3],
      ['REAL', 'b', true, undefined],
      ['BYTES', 'c', true, 2048],
      ['ENUM', 'd', false, 'Y_2'],
      ['PRIV_CALL', '', false, undefined],
      ['PRIV_TOP', 'p', false, undefined],
      ['DURATION', 'e', false, 90],
    ]);
  });

  it.each([
    ['STRING f(STRING s="a, b) = {\\" ]")', 'a, b) = {" ]'],
    ['VOID f(BOOL b=1)', true],
    ['VOID f(BOOL b=false)', false],
    ['VOID f(PROBE p=0)', null],
    ['VOID f(BACKEND b=NULL)', null],
    ['VOID f(STRING s=NULL)', null],
    ['VOID f(TIME t=0)', 0],
  ])('%s has a default', (text, value) => {
    expect(parseSignature(text).params[0]?.fallback).toBe(value);
  });

  it.each([
    '',
    'f',
    'VOID f',
    'VOID f(',
    'VOID f(INT',
    'void f()',
    'NIX f()',
    'VOID f(NIX a)',
    'VOID f(VOID)',
    'VOID f(INT a, INT a)',
    'VOID f(INT a,)',
    'VOID f(, INT a)',
    'VOID f(INT a b)',
    'VOID f([INT a)',
    'VOID f(INT a])',
    'VOID f(ENUM a)',
    'VOID f(ENUM {a, b-c} x)',
    'VOID f(ENUM {a} x=b)',
    'VOID f(INT {a} x)',
    'VOID f(INT a=1.5s)',
    'VOID f(INT a=Infinity)',
    'VOID f(INT a=alert)',
    'VOID f(BYTES a=-1)',
    'VOID f(DURATION a=3x)',
    'VOID f(DURATION a=3constructor)',
    'VOID f(STRING s=a)',
    'VOID f(STRING s="a)',
    'VOID f(STRING s="a" + "b")',
    'VOID f(HEADER h=0)',
    'VOID f([PRIV_TASK])',
    'VOID f(PRIV_CALL=1)',
    'PRIV_CALL f()',
  ])('%s is refused', (text) => {
    expect(() => parseSignature(text)).toThrow(SignatureError);
  });

  it('are read or refused, whatever they hold, and defaults are plain values', () => {
    const word = fc.constantFrom(
      ...[
        'INT',
        'STRING',
        'BOOL',
        'ENUM',
        'PRIV_TASK',
        'DURATION',
        'VOID',
        'f',
        'a',
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
      ],
      ...[
        ',',
        '=',
        '"',
        '\\',
        '1',
        '0',
        '-',
        '.',
        's',
        ' ',
        'process.exit()',
        '`',
        '${',
        "'",
        '//',
        '\n',
        'NULL',
      ],
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 16 }), (words) => {
        for (const text of [
          words.join(' '),
          `VOID f(${words.join('')})`,
          `VOID f(STRING a=${words.join('')})`,
        ]) {
          try {
            for (const p of parseSignature(text).params) {
              expect([undefined, null, 'string', 'number', 'boolean']).toContain(
                p.fallback === null ? null : p.fallback === undefined ? undefined : typeof p.fallback,
              );
            }
          } catch (error) {
            if (!(error instanceof SignatureError)) throw error;
          }
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});
