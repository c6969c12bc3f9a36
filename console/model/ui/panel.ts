// Panels over a view, as data: lines of toned text, choices, the help.

import type { Controller } from './controller.ts';

/** What a text means, as the screens colour it. */
export type Tone = 'text' | 'strong' | 'muted' | 'faint' | 'accent' | 'good' | 'warn' | 'bad' | 'title';

export interface ToneText {
  text: string;
  tone?: Tone;
  /** A part of columns or of a source: its line is cut where it is too long, and never folded. */
  fixed?: true;
  /** Drawn after the text: the newest `count` bits of a bitmap, the newest at the right. */
  bits?: { value: bigint; count: number };
  /** Drawn after the text: a bar of so many cells. */
  bar?: number;
  /** Drawn after the text: values from 0 to the highest of them, the oldest first; NaN is a blank. */
  spark?: readonly number[];
}

/** How a tab within a text is drawn. */
export const TAB = '   ';

/** A line of a pane: pieces in a row. */
export type ToneLine = readonly ToneText[];

export interface Choice {
  label: string;
  note: string;
  take(controller: Controller): void;
}

export interface TextPanel {
  kind: 'text';
  scroll: number;
  /** Characters that have gone out at the left; absent: none, and what is too long is folded. */
  left?: number;
  title: string;
  lines: readonly ToneLine[];
  /** Keys of the view close the panel and act at once, q and ? included. */
  passesKeys?: true;
}

export type Panel =
  | { kind: 'help'; scroll: number; filter: string }
  | TextPanel
  | { kind: 'choices'; scroll: number; title: string; choices: readonly Choice[] };

/** A panel as text, for the clipboard. */
export function panelText(panel: Panel | null): string {
  if (panel?.kind === 'text') return panel.lines.map((line) => line.map((s) => s.text).join('')).join('\n');
  if (panel?.kind === 'choices') return panel.choices.map((choice) => choice.label).join('\n');
  return '';
}
