// Mounts the App on a frame sink through Ink. Code that owns a process (terminal, signals, sockets) is elsewhere, so
// that tests and screenshots mount the same screens on a sink of their own.

import { PassThrough } from 'node:stream';
import { ChartPainter } from '../draw/chart.ts';
import { ChartContext, PanesContext, ThemeContext, UtcContext } from '../draw/contexts.ts';
import { render } from '../draw/ink.ts';
import type { Theme } from '../draw/theme.ts';
import type { ViewContext } from '../model/ui/view.ts';
import { App } from './app.tsx';
import type { FrameSink } from './frame-sink.ts';

export interface Mounted {
  unmount(): void;
  /** Rejects with what a component threw. */
  done: Promise<unknown>;
}

export interface MountOptions {
  c: ViewContext;
  sink: FrameSink;
  theme: Theme;
  utc: boolean;
}

export function mount({ c, sink, theme, utc }: MountOptions): Mounted {
  const charts = new ChartPainter(theme);
  sink.cutMark = theme.glyphs.ellipsis;
  const app = render(
    <PanesContext.Provider value={sink.panes}>
      <ThemeContext.Provider value={theme}>
        <ChartContext.Provider value={charts}>
          <UtcContext.Provider value={utc}>
            <App c={c} sink={sink} />
          </UtcContext.Provider>
        </ChartContext.Provider>
      </ThemeContext.Provider>
    </PanesContext.Provider>,
    {
      stdout: sink as unknown as NodeJS.WriteStream,
      stderr: sink as unknown as NodeJS.WriteStream,
      // Not the terminal: keys are read by keys.ts.
      stdin: new PassThrough() as unknown as NodeJS.ReadStream,
      // Each write is one whole frame.
      debug: true,
      patchConsole: false,
      exitOnCtrlC: false,
    },
  );
  return {
    done: app.waitUntilExit(),
    unmount: () => {
      sink.close();
      app.unmount();
    },
  };
}
