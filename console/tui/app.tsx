// The whole screen: header, the view, the footer, and what lies over them. It places
// and nothing more: data comes from the session, what is open from the controller.

import { Fragment, type ReactNode } from 'react';
import { Box, Text } from '../draw/ink.ts';
import { Painted, useUi } from '../draw/use-console.ts';
import { Words } from '../draw/words.tsx';
import type { Controller } from '../model/ui/controller.ts';
import { bodyRows, fits, MIN_SIZE, type Size } from '../model/ui/layout.ts';
import { Footer } from './components/footer.tsx';
import { Header } from './components/header.tsx';
import { HealthStrip } from './components/health-strip.tsx';
import { CandidateOverlay, PanelOverlay } from './components/overlays.tsx';
import type { FrameSink } from './frame-sink.ts';

export function App({ controller, sink }: { controller: Controller; sink: FrameSink }): ReactNode {
  const ui = useUi(controller);
  const { session, size } = controller;
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
      <Header controller={controller} view={ui.view} width={columns} readonly={ui.readonly} />
      <HealthStrip controller={controller} width={columns} />
      <Fragment key={ui.view.name}>
        {ui.view.screen({ controller, ui, width: columns, height: bodyRows(size) })}
      </Fragment>
      <Footer
        ui={ui}
        keymap={controller.keymap}
        offers={(command) => controller.operator.offers(command)}
        width={columns}
      />
      {ui.panel === null ? null : (
        <PanelOverlay panel={ui.panel} view={ui.view} keymap={controller.keymap} size={size} />
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
