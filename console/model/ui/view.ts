// The contract between the console and its views: a view, its keys and commands, and the context that their handlers get.
// Header, Tab order, keys, palette, help, mouse, copying, export, the reader and the documentation know views by this
// interface alone; views/views.ts is the table of them.

import type { ReactNode } from 'react';
import type { AskForPage } from '../../client/page-client.ts';
import type { Ask } from '../session/admin-store.ts';
import type { DaemonSession } from '../session/daemon-session.ts';
import type { Instances } from '../session/instances.ts';
import type { CompletionTables } from './completion.ts';
import type { Host, HostFiles } from './console-host.ts';
import type { QueryChecker, QueryCompleter } from './field.ts';
import { Fields } from './fields.ts';
import type { KeyEntry, KeyGroup, Keymap } from './keymap.ts';
import type { Place, Step } from './layout.ts';
import { Operator } from './operator.ts';
import type { Subject } from './row-subject.ts';
import type { SavedQueries } from './saved-queries.ts';
import { type StateSlot, type UiState, UiStore } from './ui-state.ts';

export interface KeyRow extends KeyEntry {
  run(c: ViewContext): void;
}

/** A command of the palette that is the console's own. */
export interface PaletteRow {
  readonly name: string;
  readonly syntax: string;
  readonly help: string;
  /** Neither completed nor documented: another name of the same command. */
  readonly hidden?: true;
  run(c: ViewContext, argument: string): void;
}

export interface ContextParts {
  /** In the order of Tab; the first is shown at the start. */
  readonly views: readonly View[];
  readonly instances: Instances;
  readonly tables: Pick<CompletionTables, 'commands' | 'params'>;
  readonly keymap: Keymap<KeyRow>;
  readonly checkQuery: QueryChecker;
  readonly completeQuery: QueryCompleter;
  readonly files: HostFiles;
  readonly queries: SavedQueries;
  /** A request to where the daemon listens. */
  readonly askForPage: AskForPage;
  readonly host: Host;
}

/** The context of handlers: the state of the interface, the daemon that is shown, and the services of the console. */
export interface ViewContext extends ContextParts {
  readonly ui: UiStore;
  /** Changes of the daemon. */
  readonly operator: Operator;
  readonly fields: Fields;
  /** The daemon that is shown. */
  readonly session: DaemonSession;
  /** The view that is shown. */
  readonly view: View;
}

export function makeContext(parts: ContextParts, readonly: boolean): ViewContext {
  const { views, instances, tables } = parts;
  const ui = new UiStore(views[0]?.name ?? '', readonly);
  return {
    ...parts,
    ui,
    operator: new Operator(ui, instances, tables.commands),
    fields: new Fields(ui),
    get session() {
      return instances.current;
    },
    get view() {
      return views.find(({ name }) => name === ui.state.view) as View;
    },
  };
}

export interface ScreenProps {
  c: ViewContext;
  ui: UiState;
  /** Cells of the body: the screen without header, banner and footer. */
  width: number;
  height: number;
}

/** A part of a long export. */
export interface ExportPart {
  text: string;
  /** Things exported with it, of how many. */
  done: number;
  of: number;
}

export interface View {
  readonly name: string;
  /** Shows it. */
  readonly key: string;
  readonly title: string;
  /** For narrow terminals. */
  readonly short: string;
  /** For terminals of eighty cells. */
  readonly brief: string;

  readonly keys: readonly KeyRow[];
  /** Keys that it has in common with other views of its kind. */
  readonly shared: KeyGroup<KeyRow> | null;
  readonly commands: readonly PaletteRow[];
  /** Polled while it is shown. */
  readonly asks: readonly Ask[];

  readonly state: StateSlot<unknown>;
  /** Whether the daemon has what it shows. The header and Tab skip a view that does not apply; its key shows it anyway. */
  applies(session: DaemonSession): boolean;
  /** Called before it is shown. */
  open(c: ViewContext): void;
  move(c: ViewContext, step: Step): void;
  /** Escape with nothing open over it; false where it has no step back of its own. */
  back(c: ViewContext): boolean;
  /** A click at a place of the body. */
  click(c: ViewContext, at: Place): void;

  /** Is there a row under the cursor? */
  hasRow(c: ViewContext): boolean;
  /** The subjects of the row under the cursor, the narrowest first; null where rows have none. */
  readonly subjects: ((c: ViewContext) => readonly Subject[]) | null;
  /** The same of each row that is marked; [] without marks. */
  markedSubjects(c: ViewContext): readonly (readonly Subject[])[];
  /** Copies the selection, or all rows that the filter shows. */
  copy(c: ViewContext): void;
  copyAll(c: ViewContext): void;
  /** All rows that the filter shows, not only those on screen: text, or NDJSON. */
  export(c: ViewContext, json: boolean): string | Iterable<ExportPart>;
  /** For a screen reader, '' for silence: a remark after the title, the selected row, and a summary that is repeated. */
  spokenRemark(c: ViewContext): string;
  spokenRow(c: ViewContext): string;
  spokenSummary(c: ViewContext): string;

  screen(props: ScreenProps): ReactNode;
}

const nothing = (): void => undefined;
const silence = (): string => '';

/** Defaults of what a view need not have. */
export const PLAIN_VIEW = {
  shared: null,
  commands: [],
  asks: [],
  applies: () => true,
  open: nothing,
  move: nothing,
  back: () => false,
  click: nothing,
  hasRow: () => true,
  subjects: null,
  markedSubjects: (): readonly (readonly Subject[])[] => [],
  copyAll: (c: ViewContext) => c.ui.notify('warn', 'X exports this view to a file'),
  spokenRemark: silence,
  spokenRow: silence,
  spokenSummary: silence,
} as const satisfies Partial<View>;

/** For keys that move in the view that is shown. */
export const steps = (step: Step) => (c: ViewContext) => c.view.move(c, step);
