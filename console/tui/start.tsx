// Assembles the console on a real terminal: session, context, sink, keys, signals. It restores the terminal on every
// way out: quitting, signals, a lost terminal, an exception.

import type { ReadStream, WriteStream } from 'node:tty';
import { COMMANDS } from '../../protocol/tables/commands.ts';
import { PARAMS } from '../../protocol/tables/params.ts';
import { findDaemon } from '../client/find-daemon.ts';
import { askForPage } from '../client/page-client.ts';
import { themeFromEnv } from '../draw/theme.ts';
import type { DaemonSession } from '../model/session/daemon-session.ts';
import { keyGroups, makeKeymap } from '../model/ui/global-keys.ts';
import { pasteText, pressKey } from '../model/ui/keyboard.ts';
import { showView } from '../model/ui/navigation.ts';
import type { TextPanel } from '../model/ui/panel.ts';
import { checkQuery, completeQuery } from '../model/ui/query-parser.ts';
import { makeContext } from '../model/ui/view.ts';
import { type ConfigFile, QueryFile } from '../process/config-file.ts';
import { HistoryFile, historyPath } from '../process/history-file.ts';
import { HUNG_UP } from '../process/leave.ts';
import { NodeFiles } from '../process/node-files.ts';
import type { ConsoleTarget, OpenInstances } from '../process/open-instances.ts';
import { runEditor } from '../process/run-editor.ts';
import { SettingsFile, settingsPath } from '../process/settings-file.ts';
import { isDumb, Terminal, wantsLineOutput } from '../process/terminal.ts';
import { Bell } from '../views/events/bell.ts';
import { STAT_STATE, type StatState } from '../views/stats/stat-state.ts';
import { VIEWS } from '../views/views.ts';
import { click } from './click.ts';
import { FrameSink } from './frame-sink.ts';
import { KeyParser } from './keys.ts';
import { type Mounted, mount } from './mount.tsx';
import { Reader } from './reader.ts';

/** Milliseconds to wait for the rest of a sequence after ESC. */
const ESCAPE_MS = 50;
/** Interval of the clock in the header and of the durations in the second row. */
const CLOCK_MS = 1000;
/** How long to wait for data before the first screen, and how often to look (chosen). */
const PATIENCE_MS = 500;
const LOOK_MS = 5;

const FROM_KEYS: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT']);
const SIGNALS = { SIGINT: 130, SIGQUIT: 131, SIGTERM: 143, SIGHUP: HUNG_UP } as const;

/** Whether this user has read-only access to the daemon. */
function mayOnlyRead({ dir, address, varnish }: ConsoleTarget): boolean {
  return address === undefined && varnish === undefined && findDaemon(dir).readonly;
}

/** Options of the console as a program. */
export interface ConsoleOptions extends ConsoleTarget {
  /** Refuse commands that change something. */
  readonly?: boolean | undefined;
  /** Ends the console when it aborts. */
  signal?: AbortSignal | undefined;
  /** Name of the first view. */
  view?: string | undefined;
  /** Initial state of the statistics view. */
  counters?: Pick<StatState, 'filters' | 'raw'> | undefined;
  /** A recording to show instead of a daemon. */
  replay?: string | undefined;
  /** Shown in the bottom row until the first key. */
  greeting?: string | undefined;
  /** A panel over the first screen. */
  welcome?: Pick<TextPanel, 'title' | 'lines'> | undefined;
  /** Lines for a screen reader instead of a screen. */
  reader?: boolean | undefined;
}

export interface StartOptions extends ConsoleOptions {
  /** The operator's file and its path. */
  file: ConfigFile;
  path: string;
  /** The instances; the first live daemon is connected already. */
  open: OpenInstances;
}

export function startConsole(options: StartOptions, stdin: ReadStream, stdout: WriteStream): Promise<number> {
  return new Promise((resolve) => {
    const terminal = new Terminal(stdin, stdout, isDumb(process.env));
    const sink = new FrameSink(stdout, stdout.columns || 80, stdout.rows || 24);
    const { path } = options;
    const { config, problems } = options.file({ views: VIEWS.map((v) => v.name), keys: keyGroups(VIEWS) });
    const { instances, player, target } = options.open;
    const reading = options.reader === true || config.reader || wantsLineOutput(process.env);
    const theme = themeFromEnv(process.env, { name: config.theme, ascii: config.ascii });
    const parser = new KeyParser();
    let escapeTimer: NodeJS.Timeout | undefined;
    let done = false;
    let handedOver = false;

    const finish = (status: number, message = ''): void => {
      if (done) return;
      done = true;
      clearInterval(clock);
      clearTimeout(escapeTimer);
      app?.unmount();
      instances.close();
      stdin.off('data', onData);
      stdin.pause();
      stdout.off('resize', onResize);
      // Signal handlers stay: without them a library's own would end the process at once, with a core dump after
      // SIGQUIT.
      process.off('SIGTSTP', suspend);
      process.off('SIGCONT', resume);
      terminal.restore();
      restoreStderr();
      if (message !== '') process.stderr.write(`${message}\n`);
      resolve(status);
    };

    const readonly = options.readonly === true || player !== null || mayOnlyRead(target);
    const c = makeContext(
      {
        views: VIEWS,
        instances,
        tables: { commands: COMMANDS, params: PARAMS },
        keymap: makeKeymap(VIEWS, config.keys),
        checkQuery,
        completeQuery,
        files: new NodeFiles(),
        queries: new QueryFile(path, config.queries),
        askForPage,
        host: {
          quit: () => finish(0),
          redraw: () => sink.redraw(),
          suspend: () => suspend(),
          edit: (file) => edit(file),
          copy: (text) => terminal.copy(text),
          mouse: (on) => terminal.mouse(on),
          bell: () => terminal.bell(),
        },
      },
      readonly,
    );
    const { ui } = c;
    ui.resize({ columns: sink.columns, rows: sink.rows });
    const history = new HistoryFile(historyPath(process.env));
    ui.set(history.load());
    ui.subscribe(() => history.keep(ui.state));
    const settings = new SettingsFile(settingsPath(process.env));
    ui.set({ settings: settings.load() });
    ui.subscribe(() => settings.keep(ui.state.settings));
    const bell = new Bell(() => c.host.bell(), Date.now() / 1000);
    if (options.counters !== undefined)
      ui.setState(STAT_STATE, { ...STAT_STATE.initial, ...options.counters });

    const suspend = (): void => {
      terminal.restore();
      process.kill(process.pid, 'SIGSTOP');
    };

    // The shell had the terminal meanwhile: its modes and the screen are unknown.
    const resume = (): void => {
      if (handedOver) return;
      terminal.restore();
      terminal.enter(!reading);
      if (!reading) sink.redraw();
      // A stopped job gets no signal for a new size: this makes the stream look.
      process.kill(process.pid, 'SIGWINCH');
    };

    // The editor gets the terminal as the shell would give it: nothing is read or painted meanwhile.
    const edit = async (file: string): Promise<number | string> => {
      handedOver = true;
      sink.hold();
      stdin.pause();
      terminal.restore();
      const ended = await runEditor(file, process.env);
      handedOver = false;
      if (done) return ended;
      terminal.enter(!reading);
      stdin.resume();
      if (!reading) sink.release();
      return ended;
    };

    const press = (keys: ReturnType<KeyParser['push']>): void => {
      for (const key of keys) {
        if (key.kind === 'click') click(c, key.at ?? { x: 0, y: 0 });
        else if (key.kind === 'paste') pasteText(c, key.text);
        else pressKey(c, key);
      }
    };

    const onData = (data: Buffer | string): void => {
      clearTimeout(escapeTimer);
      press(parser.push(data.toString()));
      if (parser.pending) escapeTimer = setTimeout(() => press(parser.flush()), ESCAPE_MS);
    };

    const onResize = (): void => {
      sink.resize(stdout.columns || 80, stdout.rows || 24);
      ui.resize({ columns: sink.columns, rows: sink.rows });
    };

    const handlers: [NodeJS.Signals, () => void][] = Object.entries(SIGNALS).map(([signal, status]) => [
      signal as NodeJS.Signals,
      () => {
        // Keys in the editor, which the terminal sends as signals to both.
        if (!handedOver || !FROM_KEYS.has(signal)) finish(status);
      },
    ]);
    for (const [signal, handler] of handlers) process.on(signal, handler);
    process.on('SIGTSTP', suspend);
    process.on('SIGCONT', resume);
    process.on('exit', () => terminal.restore());
    process.on('uncaughtException', (error) => finish(70, `proxyadm: ${error.stack ?? error.message}`));

    // A lost terminal is an error (EIO, EPIPE) or the end of input: never spin on it.
    const lost = (): void => finish(HUNG_UP);
    stdin.on('error', lost);
    stdin.on('end', lost);
    stdout.on('error', lost);

    const restoreStderr = holdStderr();
    stdin.setEncoding('utf8');
    terminal.enter(!reading);
    let app: Mounted | null = null;
    if (reading) {
      const reader = new Reader(c, (text) => stdout.write(text));
      const speak = (): void => {
        if (!handedOver) reader.update();
      };
      ui.subscribe(speak);
      setInterval(speak, CLOCK_MS).unref();
    } else {
      const draw = (): void => {
        if (done) return;
        app = mount({ c, sink, theme, utc: config.utc });
        app.done.catch((error: Error) => finish(70, `proxyadm: ${error.stack ?? error.message}`));
      };
      if (player !== null) draw();
      else firstData(instances.current, draw);
    }
    stdin.on('data', onData);
    stdout.on('resize', onResize);
    if (player !== null) instances.current.start();
    const wanted = options.view ?? config.view;
    showView(c, VIEWS.find((view) => view.name === wanted) ?? c.view);
    if (options.welcome !== undefined)
      ui.set({ panel: { kind: 'text', scroll: 0, passesKeys: true, ...options.welcome } });
    if (options.greeting !== undefined) ui.notify('info', options.greeting);
    const first = problems[0];
    if (first !== undefined)
      ui.notify(
        'warn',
        `${path}: ${first}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''}`,
      );
    if (player !== null) player.onChange = () => ui.set({});
    options.signal?.addEventListener('abort', () => finish(0), { once: true });
    const clock = setInterval(() => {
      player?.tick(CLOCK_MS / 1000);
      instances.current.passSecond();
      instances.current.admin.tick();
      // An editor has the terminal; a recording repeats what is over.
      if (!handedOver && player === null) bell.check(instances.current.events.all(), ui.state.settings.bell);
    }, CLOCK_MS);
  });
}

/** Calls back when there is data, or after the limit: a screen drawn once with data is there sooner than one drawn
 * empty first. */
function firstData(session: DaemonSession, then: () => void): void {
  const late = performance.now() + PATIENCE_MS;
  const timer = setInterval(() => {
    const more = !session.isFurnished && session.connection.state !== 'waiting';
    if (more && performance.now() < late) return;
    clearInterval(timer);
    then();
  }, LOOK_MS);
}

/** Holds back warnings of libraries while the screen is painted, and prints them afterwards. */
function holdStderr(): () => void {
  const { stderr } = process;
  const write = stderr.write;
  const held: string[] = [];
  stderr.write = ((chunk: string | Uint8Array): boolean => {
    if (held.length < 50) held.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    return true;
  }) as typeof stderr.write;
  return () => {
    stderr.write = write;
    for (const text of held) stderr.write(text);
  };
}
