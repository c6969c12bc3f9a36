// A field that is being edited. Its kind says what completes the text, what the text must be, and what Enter and Escape
// do with it: the command line and the search in the help are the console's, filters, queries and most prompts belong to
// views.

import type { Completion } from './completion.ts';
import type { Controller } from './controller.ts';
import type { Line } from './line-editor.ts';
import type { QueryCheck } from './query-check.ts';

export interface FieldKind {
  /** How the screen shows it. */
  readonly kind: 'command' | 'query' | 'filter' | 'search' | 'prompt';
  /** The history that Up and Down walk through. */
  readonly recall?: 'commands' | 'queries';
  /** Enter changes something of the daemon: a prompt of this kind is refused when read-only. */
  readonly changes?: true;
  complete?(controller: Controller, line: Line): Completion;
  /** Enter does nothing while this says no. `subject` is what a prompt is about. */
  verdict?(controller: Controller, text: string, subject: string): QueryCheck;
  /** Called after every key. */
  follow?(controller: Controller, text: string): void;
  accept?(controller: Controller, text: string, subject: string): void;
  /** ^R: all that could be taken in the place of a text. */
  list?(controller: Controller): void;
  /** What a second Enter does with a text that the verdict refuses; the first one says so in these words. */
  readonly otherwise?: { offer: string; accept(controller: Controller, text: string): void };
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
  /** What a prompt asks, and what it is about: a parameter's name, a tag. */
  prompt: { label: string; subject: string } | null;
}

/** The verdict on a text that must not be empty. */
export function needed(text: string, what: string): QueryCheck {
  return text.trim() === ''
    ? { ok: false, from: 0, to: 1, message: `${what} is needed`, expected: [] }
    : { ok: true };
}

/** A prompt for a file's path; '' is the folder one is in. */
export function filePrompt(
  accept: (controller: Controller, path: string) => void,
  changes: { changes?: true } = {},
): FieldKind {
  return {
    kind: 'prompt',
    ...changes,
    verdict: (_c, text) => needed(text, 'a file'),
    complete: (c, line) => {
      const head = line.text.slice(0, line.cursor);
      return {
        from: head.lastIndexOf('/') + 1,
        usage: '',
        candidates: c.options.files
          .complete(head)
          .map((p) => ({ text: p.slice(p.replace(/\/$/, '').lastIndexOf('/') + 1), help: '' })),
      };
    },
    accept: (c, text) => accept(c, text.trim()),
  };
}
