// Subscriptions of components to what lives outside React.

import { type ReactNode, useEffect, useLayoutEffect, useSyncExternalStore } from 'react';
import type { DaemonSession } from '../model/session/daemon-session.ts';
import type { UiState } from '../model/ui/ui-state.ts';
import type { ViewContext } from '../model/ui/view.ts';

/** Renders again whenever the session tells of new data; the number only differs. */
function useSessionTick(session: DaemonSession): number {
  return useSyncExternalStore(session.subscribe, session.snapshot);
}

export function useUi({ ui }: ViewContext): UiState {
  return useSyncExternalStore(ui.subscribe, ui.snapshot);
}

/** Renders again when the worker's threads are others. */
export function useThreads(session: DaemonSession): readonly string[] {
  return useSyncExternalStore(session.subscribe, () => session.counters.threads);
}

/** What is made again of new data, and nothing around it: a box that is rendered again costs Ink a frame. */
export function Live({
  session,
  children,
}: {
  session: DaemonSession;
  children: () => ReactNode;
}): ReactNode {
  useSessionTick(session);
  return children();
}

/**
 * Calls `paint` after everything else has been rendered: at once when `ui` has changed, for what a key does shows at
 * once, and otherwise a moment later, because a layout effect makes Ink write a frame.
 */
export function Painted({
  session,
  ui,
  paint,
}: {
  session: DaemonSession;
  ui: UiState;
  paint: () => void;
}): ReactNode {
  useSessionTick(session);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is painted is new with the state, not with the function
  useLayoutEffect(paint, [ui]);
  useEffect(paint);
  return null;
}
