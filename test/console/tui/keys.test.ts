import { describe, expect, it } from 'vitest';
import { KeyParser } from '../../../console/tui/keys.ts';

const names = (...chunks: string[]): string[] => {
  const parser = new KeyParser();
  return [...chunks.flatMap((c) => parser.push(c)), ...parser.flush()].map((k) =>
    k.kind === 'paste' ? `<${k.text}>` : k.name,
  );
};

describe('KeyParser', () => {
  it('distinguishes every key of fast typing', () => {
    expect(names('param.show é😀')).toEqual([...'param.show'].concat('space', 'é', '😀'));
  });

  it('knows control keys by their letters', () => {
    expect(names('\x02\x06\x14\x03\r\t\x7f\x08')).toEqual([
      'ctrl+b',
      'ctrl+f',
      'ctrl+t',
      'ctrl+c',
      'enter',
      'tab',
      'backspace',
      'backspace',
    ]);
  });

  it('knows cursor and function keys in all their spellings', () => {
    expect(
      names(
        '\x1b[A',
        '\x1bOA',
        '\x1b[5~',
        '\x1b[1~',
        '\x1b[H',
        '\x1bOF',
        '\x1b[Z',
        '\x1b[15~',
        '\x1bOP',
        '\x1b[3~',
      ),
    ).toEqual(['up', 'up', 'pageup', 'home', 'home', 'end', 'shift+tab', 'f5', 'f1', 'delete']);
  });

  it('knows modifiers', () => {
    expect(names('\x1b[1;5C', '\x1b[1;3D', '\x1bf', '\x1b\x7f')).toEqual([
      'ctrl+right',
      'alt+left',
      'alt+f',
      'alt+backspace',
    ]);
  });

  it('reads the same keys whatever the chunks', () => {
    const input = 'a\x1b[5~\x1b[200~x\x1b[A\x1b[201~q\x1bOA\x1b[1;5Cé';
    const whole = names(input);
    expect(whole).toEqual(['a', 'pageup', '<x\x1b[A>', 'q', 'up', 'ctrl+right', 'é']);
    for (let i = 1; i < input.length; i++)
      expect(names(input.slice(0, i), input.slice(i)), `split at ${i}`).toEqual(whole);
  });

  it('takes a lone ESC for Escape only after the pause', () => {
    const parser = new KeyParser();
    expect(parser.push('\x1b')).toEqual([]);
    expect(parser.pending).toBe(true);
    expect(parser.flush().map((k) => k.name)).toEqual(['escape']);
    expect(parser.pending).toBe(false);
  });

  it('takes the wheel for keys and the left button for a click, when it goes down', () => {
    expect(names('\x1b[<64;12;7M', '\x1b[<65;12;7M')).toEqual(['wheelup', 'wheeldown']);
    expect(new KeyParser().push('\x1b[<0;12;7M\x1b[<0;12;7m')).toEqual([
      { kind: 'click', name: '', text: '', at: { x: 11, y: 6 } },
    ]);
  });

  it('types nothing for other mouse reports, focus reports and unknown sequences', () => {
    expect(
      names('\x1b[<2;12;7M', '\x1b[<35;12;7M', '\x1b[I', '\x1b[O', '\x1b[99~', '\x1b[?1;2c', 'q'),
    ).toEqual(['q']);
  });

  it('does not hold back a paste without end for ever', () => {
    const parser = new KeyParser();
    const keys = parser.push(`\x1b[200~${'x'.repeat(200_000)}`);
    expect(keys.map((k) => k.kind)).toEqual(['paste']);
  });
});
