// A real terminal for a program under test: a tmux server of its own, driven by keys, read as text. What a
// shell would see after the program (echo, cursor, screen) can be asked too, because a shell runs it.
import { join } from 'node:path';
import { PATIENCE, run, type Sandbox, until } from './processes.ts';

/** Between two looks at a screen (chosen): each is a process. */
const SCREEN_MS = 60;

let servers = 0;

export class TestTerminal {
  private readonly socket: string;

  private constructor(socket: string) {
    this.socket = socket;
  }

  /** A shell in a terminal of this size; its prompt is `$ `. */
  static async open(box: Sandbox, columns: number, rows: number): Promise<TestTerminal> {
    // A server that is stopping may still accept a session, and end with it: each terminal uses its own.
    const terminal = new TestTerminal(join(box.dir, `tmux-${servers++}.sock`));
    const env = 'env -u NO_COLOR -u FORCE_COLOR LANG=C.UTF-8 PS1="$ " HISTFILE=/dev/null';
    const size = ['-x', String(columns), '-y', String(rows)];
    await terminal.tmux('-f', '/dev/null', 'new-session', '-d', ...size, `${env} bash --noprofile --norc`);
    try {
      await terminal.waitFor(/^\$ ?$/m);
    } catch (error) {
      await terminal.close();
      throw error;
    }
    return terminal;
  }

  /** Types text as it is. */
  async type(text: string): Promise<void> {
    await this.tmux('send-keys', '-l', text);
  }

  /** Presses keys by tmux's names: Enter, Escape, Tab, C-c, Up. */
  async press(...keys: string[]): Promise<void> {
    await this.tmux('send-keys', ...keys);
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  async screen(): Promise<string> {
    return (await this.tmux('capture-pane', '-p')).stdout;
  }

  /** The screen once it matches; an error that shows the last one otherwise. */
  async waitFor(pattern: RegExp, ms = PATIENCE): Promise<string> {
    let last = '';
    return until(
      `${pattern}`,
      async () => {
        last = Buffer.from(await this.screen(), 'latin1').toString();
        return pattern.test(last) ? last : null;
      },
      ms,
      SCREEN_MS,
    ).catch((cause: unknown) => {
      throw new Error(`not on the screen: ${pattern}\n${last}`, { cause });
    });
  }

  /** tmux's own word on the state of the terminal: alternate screen, cursor. */
  async modes(): Promise<string> {
    const format = '#{alternate_on} #{cursor_flag}';
    return (await this.tmux('display-message', '-p', format)).stdout.trim();
  }

  async close(): Promise<void> {
    await this.tmux('kill-server');
  }

  private tmux(...args: string[]): ReturnType<typeof run> {
    return run('tmux', ['-S', this.socket, ...args]);
  }
}
