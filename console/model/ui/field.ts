// A field being edited, as data. Its kind is made by the code that opens it: what completes the text, what the text must
// be, and what Enter and Escape do with it.

import type { Candidate, Completion } from './completion.ts';
import type { HostFiles } from './console-host.ts';
import type { Line } from './line-editor.ts';

/** A key as the terminal layer names it: `name` is canonical (ctrl+b, pageup, a), `text` what it types. */
export interface KeyPress {
  name: string;
  text: string;
}

/** The verdict on a text. */
export type QueryCheck =
  /** `note`: a remark on a valid text. */
  | { ok: true; note?: string }
  | {
      ok: false;
      /** Columns of the text from 0; `to` is exclusive. */
      from: number;
      to: number;
      message: string;
      /** Words accepted at `from`. */
      expected: readonly string[];
    };

export type QueryChecker = (text: string) => QueryCheck;

/** Words that could stand before the cursor, and where the word they replace begins. */
export type QueryCompleter = (text: string, cursor: number) => { from: number; candidates: Candidate[] };

export interface FieldKind {
  /** How the screen shows it. */
  readonly kind: 'command' | 'query' | 'filter' | 'search' | 'prompt';
  /** The history that Up and Down walk through. */
  readonly recall?: 'commands' | 'queries';
  /** Enter changes something of the daemon: a prompt of this kind is refused when read-only. */
  readonly changes?: true;
  complete?(line: Line): Completion;
  /** Enter does nothing while the text is not ok. `subject`: see Field.prompt. */
  verdict?(text: string, subject: string): QueryCheck;
  /** Called after every key, and with '' at Escape. */
  follow?(text: string): void;
  accept?(text: string, subject: string): void;
  /** ^R: lists texts to choose from. */
  list?(): void;
  /** The action of a second Enter on a refused text; the first one shows `offer`. */
  readonly otherwise?: { offer: string; accept(text: string): void };
}

export interface Field extends FieldKind {
  line: Line;
  /** Null where nothing completes. */
  completion: Completion | null;
  /** Chosen candidate, -1 is none. */
  choice: number;
  /** Null where the text may be anything. */
  check: QueryCheck | null;
  /** Is the next Enter the second one? */
  offered: boolean;
  /** Label and subject of a prompt: a parameter's name, a tag. */
  prompt: { label: string; subject: string } | null;
}

/** The verdict on a text that must not be empty. */
export function needed(text: string, what: string): QueryCheck {
  return text.trim() === ''
    ? { ok: false, from: 0, to: 1, message: `${what} is needed`, expected: [] }
    : { ok: true };
}

/** A prompt for the path of a file. */
export function filePrompt(
  files: HostFiles,
  accept: (path: string) => void,
  changes: { changes?: true } = {},
): FieldKind {
  return {
    kind: 'prompt',
    ...changes,
    verdict: (text) => needed(text, 'a file'),
    complete: (line) => {
      const head = line.text.slice(0, line.cursor);
      return {
        from: head.lastIndexOf('/') + 1,
        usage: '',
        candidates: files
          .complete(head)
          .map((p) => ({ text: p.slice(p.replace(/\/$/, '').lastIndexOf('/') + 1), help: '' })),
      };
    },
    accept: (text) => accept(text.trim()),
  };
}
