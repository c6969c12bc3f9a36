// The whole screen: header, the view, the footer, and what lies over them. It places
// and nothing more: data comes from the session, open fields and panels from the state.

import { Fragment, type ReactNode } from 'react';
import { Box, Text } from '../draw/ink.ts';
import { Painted, useUi } from '../draw/use-console.ts';
import { Words } from '../draw/words.tsx';
import { bodyRows, fits, MIN_SIZE, type Size } from '../model/ui/layout.ts';
import type { ViewContext } from '../model/ui/view.ts';
import { Footer } from './components/footer.tsx';
import { Header } from './components/header.tsx';
import { HealthStrip } from './components/health-strip.tsx';
import { CandidateOverlay, PanelOverlay } from './components/overlays.tsx';
import type { FrameSink } from './frame-sink.ts';

export function App({ c, sink }: { c: ViewContext; sink: FrameSink }): ReactNode {
  const ui = useUi(c);
  const { session, view } = c;
  const { size } = c.ui;
  const painted = <Painted session={session} ui={ui} paint={() => sink.paint()} />;
  const { columns, rows } = size;
  if (!fits(size)) {
    return (
      <Box flexDirection="column" width={columns} height={rows}>
        <TooSmall size={size} />
        {painted}
      </Box>
    );
  }
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Header c={c} view={view} width={columns} readonly={ui.readonly} />
      <HealthStrip c={c} width={columns} />
      <Fragment key={view.name}>{view.screen({ c, ui, width: columns, height: bodyRows(size) })}</Fragment>
      <Footer c={c} ui={ui} width={columns} />
      {ui.panel === null ? null : (
        <PanelOverlay panel={ui.panel} view={ui.view} keymap={c.keymap} size={size} />
      )}
      {ui.field === null ? null : <CandidateOverlay field={ui.field} size={size} />}
      {painted}
    </Box>
  );
}

function TooSmall({ size }: { size: Size }): ReactNode {
  const needed = `The console needs ${MIN_SIZE.columns} by ${MIN_SIZE.rows} cells`;
  return (
    <>
      <Text>
        <Words style="warn">{`${needed}; this terminal has ${size.columns} by ${size.rows}.`}</Words>
      </Text>
      <Words style="muted">q quits</Words>
    </>
  );
}
