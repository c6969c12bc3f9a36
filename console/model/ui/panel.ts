// Panels over a view, as data: lines of toned text, choices, the help.

/** The meaning of a text, which the theme has a style for. */
export type Tone = 'text' | 'strong' | 'muted' | 'faint' | 'accent' | 'good' | 'warn' | 'bad' | 'title';

export interface ToneText {
  text: string;
  tone?: Tone;
  /** A part of columns or of source code: its line is cut where it is too long, and never folded. */
  fixed?: true;
  /** Drawn after the text: the newest `count` bits of a bitmap, the newest at the right; `old`: no longer current. */
  bits?: { value: bigint; count: number; old?: boolean };
  /** Drawn after the text: a bar of this many cells. */
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
  /** Takes it at once. */
  key?: string;
  take(): void;
}

export interface TextPanel {
  kind: 'text';
  scroll: number;
  /** Characters scrolled out at the left; absent: none, and long lines are folded. */
  left?: number;
  title: string;
  lines: readonly ToneLine[];
  /** The text that is searched for, the line of the present match, and the line at which the search began. */
  find?: { text: string; line: number; from: number };
  /** Keys of the view close the panel and act at once, q and ? included. */
  passesKeys?: true;
}

export type Panel =
  | { kind: 'help'; scroll: number; filter: string }
  | TextPanel
  | {
      kind: 'choices';
      scroll: number;
      title: string;
      choices: readonly Choice[];
      /** A search that has narrowed the choices, and all of them. */
      filter?: string;
      all?: readonly Choice[];
    };

export function textPanel(title: string, lines: readonly ToneLine[], scroll = 0): TextPanel {
  return { kind: 'text', scroll, title, lines };
}

/** A panel of choices with the one at `selected` under the cursor. */
export function choicePanel(title: string, choices: readonly Choice[], selected = 0): Panel {
  return { kind: 'choices', scroll: selected, title, choices };
}

/** A panel as text, for the clipboard. */
export function panelText(panel: Panel | null): string {
  if (panel?.kind === 'text') return panel.lines.map((line) => line.map((s) => s.text).join('')).join('\n');
  if (panel?.kind === 'choices') return panel.choices.map((choice) => choice.label).join('\n');
  return '';
}
