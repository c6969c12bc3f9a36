// A console without a terminal: the real screens on a sink of a fixed size, a recording as the daemon, and
// a clock that only the test moves. What would be on the screen comes out as a grid of text.

import xterm from '@xterm/headless';
import type { AskForPage } from '../../console/client/page-client.ts';
import { makeTheme, type Theme } from '../../console/draw/theme.ts';
import type { GroupMatcher } from '../../console/model/log/request-group.ts';
import { summarise } from '../../console/model/log/transaction.ts';
import { DaemonSession } from '../../console/model/session/daemon-session.ts';
import { Instances } from '../../console/model/session/instances.ts';
import type { Recording } from '../../console/model/session/recording.ts';
import { ReplaySource } from '../../console/model/session/replay-source.ts';
import type { Host, HostFiles, LintFinding } from '../../console/model/ui/console-host.ts';
import type { QueryChecker, QueryCompleter } from '../../console/model/ui/field.ts';
import { makeKeymap } from '../../console/model/ui/global-keys.ts';
import { pressKey } from '../../console/model/ui/keyboard.ts';
import { volatileQueries } from '../../console/model/ui/saved-queries.ts';
import { type ContextParts, makeContext, type ViewContext } from '../../console/model/ui/view.ts';
import { FrameSink } from '../../console/tui/frame-sink.ts';
import { mount } from '../../console/tui/mount.tsx';
import { VIEWS } from '../../console/views/views.ts';
import { COMMANDS } from '../../protocol/tables/commands.ts';
import { PARAMS } from '../../protocol/tables/params.ts';

/** Distinguishes the session's frame notifications from other deferred calls. */
const FRAME_MS = 81;

/** A host that does nothing. */
export const NO_HOST: Host = {
  quit: () => undefined,
  redraw: () => undefined,
  suspend: () => undefined,
  edit: () => Promise.resolve('no editor'),
  copy: () => undefined,
  mouse: () => undefined,
  bell: () => undefined,
};

/** A context with nothing but the given parts. */
export function testContext(
  parts: Partial<ContextParts> & Pick<ContextParts, 'views' | 'instances'>,
  readonly = false,
): ViewContext {
  return makeContext(
    {
      tables: { commands: [], params: [] },
      keymap: makeKeymap(parts.views),
      checkQuery: () => ({ ok: true }),
      completeQuery: (_text, cursor) => ({ from: cursor, candidates: [] }),
      files: new FakeFiles(),
      queries: volatileQueries(),
      askForPage: () => Promise.reject(new Error('nobody listens')),
      host: NO_HOST,
      ...parts,
    },
    readonly,
  );
}

export interface StageOptions {
  recording: Recording;
  columns: number;
  rows: number;
  theme?: Theme;
  readonly?: boolean;
  logBounds?: { maxBytes: number; maxEntries: number };
  checkQuery?: QueryChecker;
  completeQuery?: QueryCompleter;
  matcher?: GroupMatcher;
  /** A query is answered with what was played before it, as a daemon does. */
  canReplay?: boolean;
  files?: HostFiles;
  queries?: Record<string, string>;
  askForPage?: AskForPage;
  onEdit?: (path: string) => Promise<number | string>;
}

export class Stage {
  readonly source: ReplaySource;
  readonly c: ViewContext;
  readonly sink: FrameSink;
  readonly terminal: InstanceType<typeof xterm.Terminal>;
  readonly copied: string[] = [];
  quits = 0;
  private readonly unmount: () => void;
  private readonly start: number;
  private clock = 0;
  private due: (() => void)[] = [];
  /** Frames that were due while the terminal was hidden. */
  private held: (() => void)[] = [];

  constructor(o: StageOptions) {
    this.start = o.recording.start;
    this.terminal = new xterm.Terminal({ cols: o.columns, rows: o.rows, allowProposedApi: true });
    // Enough of a query language for the stage: the one the dashboard asks.
    const matcher: GroupMatcher =
      o.matcher ??
      ((query) => (group) =>
        query !== 'RespStatus >= 500' ||
        group.some((tx) => tx.type === 'request' && summarise(tx).status >= 500));
    this.source = new ReplaySource({
      recording: o.recording,
      matcher,
      canReplay: o.canReplay === true,
    });
    const instances = new Instances(
      { name: 'stage', open: () => this.source },
      [],
      (source) =>
        new DaemonSession({
          source,
          matcher,
          utc: true,
          ...(o.logBounds === undefined ? {} : { logBounds: o.logBounds }),
          now: () => this.start + this.clock,
          frameMs: FRAME_MS,
          later: (fn, ms) => {
            (ms === FRAME_MS ? this.held : this.due).push(fn);
          },
        }),
    );
    this.c = testContext(
      {
        views: VIEWS,
        instances,
        tables: { commands: COMMANDS, params: PARAMS },
        queries: volatileQueries(o.queries),
        host: {
          ...NO_HOST,
          quit: () => {
            this.quits++;
          },
          redraw: () => this.sink.redraw(),
          copy: (text) => this.copied.push(text),
          ...(o.onEdit === undefined ? {} : { edit: o.onEdit }),
        },
        ...(o.files === undefined ? {} : { files: o.files }),
        ...(o.askForPage === undefined ? {} : { askForPage: o.askForPage }),
        ...(o.checkQuery === undefined ? {} : { checkQuery: o.checkQuery }),
        ...(o.completeQuery === undefined ? {} : { completeQuery: o.completeQuery }),
      },
      o.readonly === true,
    );
    this.sink = new FrameSink({ write: (text) => this.terminal.write(text) }, o.columns, o.rows);
    this.c.ui.resize({ columns: o.columns, rows: o.rows });
    const app = mount({
      c: this.c,
      sink: this.sink,
      theme: o.theme ?? makeTheme('none', false),
      utc: true,
    });
    this.unmount = () => app.unmount();
    this.session.start();
  }

  get session(): DaemonSession {
    return this.c.session;
  }

  /**
   * Moves the clock second by second, delivering what was recorded and running what fell due. The screen is drawn at the
   * first second and at the last: most of the time of a test went into frames that nothing looked at.
   */
  async play(until: number): Promise<void> {
    for (let first = true; this.clock < until; first = false) {
      this.clock = Math.min(until, this.clock + 1);
      this.source.advance(this.clock);
      // As the clock of the real console does.
      this.session.touch();
      await this.settle(first || this.clock === until);
    }
  }

  /** Lets promises and scheduled notifications run, those of new frames only where they are `drawn`. */
  async settle(drawn = true): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await Promise.resolve();
      const due = drawn ? this.due.concat(this.held) : this.due;
      this.due = [];
      if (drawn) this.held = [];
      for (const fn of due) fn();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  async keys(...names: string[]): Promise<void> {
    for (const name of names)
      pressKey(this.c, { name, text: name.length === 1 ? name : name === 'space' ? ' ' : '' });
    await this.settle();
  }

  async type(text: string): Promise<void> {
    await this.keys(...[...text].map((c) => (c === ' ' ? 'space' : c)));
  }

  async resize(columns: number, rows: number): Promise<void> {
    this.terminal.resize(columns, rows);
    this.sink.resize(columns, rows);
    this.c.ui.resize({ columns, rows });
    await this.settle();
  }

  /** The screen as text, a line a row, without trailing blanks. */
  async screen(): Promise<string> {
    await new Promise<void>((resolve) => this.terminal.write('', resolve));
    const { active } = this.terminal.buffer;
    const lines: string[] = [];
    for (let y = 0; y < this.terminal.rows; y++)
      lines.push(
        active
          .getLine(active.baseY + y)
          ?.translateToString(true)
          ?.trimEnd() ?? '',
      );
    return lines.join('\n');
  }

  close(): void {
    this.unmount();
    this.session.close();
    this.terminal.dispose();
  }
}

/** Files in memory. */
export class FakeFiles implements HostFiles {
  readonly files = new Map<string, string>();
  findings: LintFinding[] = [];

  read(path: string): Promise<string> {
    const text = this.files.get(path);
    return text === undefined
      ? Promise.reject(new Error('No such file or directory'))
      : Promise.resolve(text);
  }

  write(path: string, text: string): Promise<void> {
    this.files.set(path, text);
    return Promise.resolve();
  }

  copy(name: string, text: string): Promise<string> {
    this.files.set(`/copy/${name}`, text);
    return Promise.resolve(`/copy/${name}`);
  }

  remove(path: string): Promise<void> {
    this.files.delete(path);
    return Promise.resolve();
  }

  exists(path: string): boolean {
    return this.files.has(path);
  }

  complete(prefix: string): string[] {
    return [...this.files.keys()].filter((path) => path.startsWith(prefix)).sort();
  }

  absolute(path: string): string {
    return path;
  }

  lint(): Promise<LintFinding[]> {
    return Promise.resolve(this.findings);
  }
}
