// Raw terminal input to names of keys, for all terminals: Ink's own hook loses fast typing, function keys and pastes.
// An unfinished escape sequence is held back; the caller flushes it after a pause, and then a lone ESC is the Escape
// key. The meaning of keys is elsewhere.

export interface Key {
  kind: 'key' | 'paste' | 'click';
  /** Canonical: a, G, space, ctrl+b, alt+f, shift+tab, pageup, f5. '' for a paste. */
  name: string;
  /** The text that the key types, or the pasted text. */
  text: string;
  /** Of a click: the cell, from 0. */
  at?: { x: number; y: number };
}

const PASTE_BEGIN = '\x1b[200~';
const PASTE_END = '\x1b[201~';
/** Limit of a paste without an end. */
const PASTE_LIMIT = 1 << 17;

const FINALS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
  Z: 'shift+tab',
};

const TILDES: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
  11: 'f1',
  12: 'f2',
  13: 'f3',
  14: 'f4',
  15: 'f5',
  17: 'f6',
  18: 'f7',
  19: 'f8',
  20: 'f9',
  21: 'f10',
  23: 'f11',
  24: 'f12',
};

const CONTROLS: Readonly<Record<number, string>> = {
  8: 'backspace',
  9: 'tab',
  10: 'enter',
  13: 'enter',
  127: 'backspace',
};

export class KeyParser {
  private held = '';

  /** Is an unfinished sequence held back? */
  get pending(): boolean {
    return this.held !== '';
  }

  push(chunk: string): Key[] {
    const input = this.held + chunk;
    this.held = '';
    const keys: Key[] = [];
    for (let at = 0; at < input.length; ) {
      const step = this.next(input, at, keys);
      if (step === 0) {
        this.held = input.slice(at);
        break;
      }
      at += step;
    }
    return keys;
  }

  /** After a pause: the unfinished sequence as keys. */
  flush(): Key[] {
    const held = this.held;
    this.held = '';
    if (held === '' || held.startsWith(PASTE_BEGIN)) return [];
    if (held === '\x1b') return [key('escape')];
    if (held === '\x1b\x1b') return [key('escape'), key('escape')];
    // ESC [ alone is Alt+[; anything longer is a broken sequence and types nothing.
    return held.length === 2 ? [key(`alt+${held[1]}`)] : [];
  }

  /** Consumes one key at `at`; returns its length, 0 when more input is needed. */
  private next(input: string, at: number, keys: Key[]): number {
    const code = input.charCodeAt(at);
    if (code === 0x1b) return this.escape(input, at, keys);
    if (code < 0x20 || code === 0x7f) {
      const name = CONTROLS[code] ?? (code === 0 ? 'ctrl+space' : `ctrl+${controlLetter(code)}`);
      keys.push(key(name));
      return 1;
    }
    const char = String.fromCodePoint(input.codePointAt(at) as number);
    keys.push({ kind: 'key', name: char === ' ' ? 'space' : char, text: char });
    return char.length;
  }

  private escape(input: string, at: number, keys: Key[]): number {
    const second = input[at + 1];
    if (second === undefined) return 0;
    if (second === '[') return this.csi(input, at, keys);
    if (second === 'O') {
      const third = input[at + 2];
      if (third === undefined) return 0;
      const name = FINALS[third];
      if (name !== undefined) keys.push(key(name));
      return 3;
    }
    if (second === '\x1b') {
      keys.push(key('escape'));
      return 1;
    }
    const inner: Key[] = [];
    const length = this.next(input, at + 1, inner);
    const name = inner[0]?.name;
    if (name !== undefined) keys.push(key(`alt+${name}`));
    return length + 1;
  }

  private csi(input: string, at: number, keys: Key[]): number {
    if (input.startsWith(PASTE_BEGIN, at)) {
      const from = at + PASTE_BEGIN.length;
      const end = input.indexOf(PASTE_END, from);
      if (end < 0) {
        if (input.length - at < PASTE_LIMIT) return 0;
        keys.push({ kind: 'paste', name: '', text: input.slice(from) });
        return input.length - at;
      }
      keys.push({ kind: 'paste', name: '', text: input.slice(from, end) });
      return end + PASTE_END.length - at;
    }
    // Parameter bytes 0x30-0x3f, intermediates 0x20-0x2f, one final byte 0x40-0x7e.
    let i = at + 2;
    while (i < input.length && input.charCodeAt(i) >= 0x20 && input.charCodeAt(i) <= 0x3f) i++;
    if (i >= input.length) return i - at > 64 ? i - at : 0;
    const final = input[i] as string;
    const params = input.slice(at + 2, i);
    const length = i + 1 - at;
    // Of mouse reports (CSI < button;x;y M) the wheel is a key and the left button a click; others and focus reports
    // (CSI I, O) are swallowed.
    const wheel = /^<6([45]);/.exec(params);
    if (wheel !== null && final === 'M') keys.push(key(wheel[1] === '4' ? 'wheelup' : 'wheeldown'));
    const left = /^<0;(\d{1,5});(\d{1,5})$/.exec(params);
    if (left !== null && final === 'M')
      keys.push({
        kind: 'click',
        name: '',
        text: '',
        at: { x: Number(left[1]) - 1, y: Number(left[2]) - 1 },
      });
    if (params.startsWith('<') || final === 'I' || final === 'O') return length;
    const [first = '', modifier = '1'] = params.split(';');
    const base = final === '~' ? TILDES[first] : FINALS[final];
    if (base !== undefined) keys.push(key(modified(base, Number.parseInt(modifier, 10) || 1)));
    return length;
  }
}

function key(name: string): Key {
  return { kind: 'key', name, text: '' };
}

/** 1 + bit mask of shift 1, alt 2, ctrl 4. */
function modified(base: string, modifier: number): string {
  const mask = modifier - 1;
  return `${mask & 4 ? 'ctrl+' : ''}${mask & 2 ? 'alt+' : ''}${mask & 1 ? 'shift+' : ''}${base}`;
}

function controlLetter(code: number): string {
  return code <= 26 ? String.fromCharCode(code + 96) : ('\\]^_'[code - 28] ?? '?');
}
