// The whole screen: header, banner while stale, the view, the footer, and what lies over them. It places
// and nothing more: data comes from the session, what is open from the controller.

import { type ReactNode, useLayoutEffect, useState } from 'react';
import type { Controller } from '../model/controller.ts';
import { bodyRows, fits, MIN_SIZE } from '../model/layout.ts';
import { isListView } from '../model/views.ts';
import { Footer } from './components/footer.tsx';
import { Banner, Header } from './components/header.tsx';
import { CandidateOverlay, PanelOverlay } from './components/overlays.tsx';
import { Rows } from './components/rows.tsx';
import type { FrameSink } from './frame-sink.ts';
import { useSessionTick, useUi } from './hooks/use-console.ts';
import { Box } from './ink.ts';
import { Dashboard } from './screens/dashboard.tsx';
import { LatencyScreen } from './screens/latency.tsx';
import { ListScreen } from './screens/list.tsx';
import { LogScreen } from './screens/log.tsx';
import { LogPainter } from './screens/log-rows.ts';
import { StatsScreen } from './screens/stats.tsx';
import { span } from './spans.ts';

export function App({ controller, sink }: { controller: Controller; sink: FrameSink }): ReactNode {
  const ui = useUi(controller);
  const { session, size } = controller;
  useSessionTick(session);
  const [painter] = useState(() => new LogPainter());
  // Ink writes a frame only when its layout changes; new content is painted here, after every render.
  useLayoutEffect(() => sink.paint());
  const { columns, rows } = size;
  if (!fits(size)) {
    const text = `The console needs ${MIN_SIZE.columns} by ${MIN_SIZE.rows} cells; this terminal has ${columns} by ${rows}.`;
    return (
      <Rows
        rows={[[span(text, 'warn')], [span('q quits', 'muted')]]}
        width={columns}
        height={Math.max(1, rows)}
      />
    );
  }
  const stale = session.cutOff;
  const top = stale ? 2 : 1;
  const body = { session, width: columns, height: bodyRows(size, stale) };
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Header controller={controller} view={ui.view} width={columns} readonly={ui.readonly} />
      {stale ? <Banner session={session} width={columns} /> : null}
      {ui.view === 'dashboard' ? <Dashboard {...body} cursor={ui.options.dashboard ?? ''} /> : null}
      {ui.view === 'log' ? <LogScreen {...body} controller={controller} ui={ui} painter={painter} /> : null}
      {ui.view === 'stats' ? <StatsScreen {...body} ui={ui} /> : null}
      {ui.view === 'latency' ? <LatencyScreen {...body} option={ui.options.latency ?? ''} /> : null}
      {isListView(ui.view) ? (
        <ListScreen
          key={ui.view}
          controller={controller}
          ui={ui}
          view={ui.view}
          width={columns}
          height={body.height}
        />
      ) : null}
      <Footer ui={ui} keymap={controller.keymap} width={columns} />
      {ui.panel === null ? null : (
        <PanelOverlay panel={ui.panel} view={ui.view} keymap={controller.keymap} size={size} top={top} />
      )}
      {ui.field === null ? null : <CandidateOverlay field={ui.field} size={size} />}
    </Box>
  );
}
