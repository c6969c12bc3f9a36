// Subscriptions of components to state outside of React.

import { type ReactNode, useEffect, useLayoutEffect, useSyncExternalStore } from 'react';
import type { DaemonSession } from '../model/session/daemon-session.ts';
import type { UiState } from '../model/ui/ui-state.ts';
import type { ViewContext } from '../model/ui/view.ts';

/** Renders at each notification of the session; the number only differs. */
function useSessionTick(session: DaemonSession): number {
  return useSyncExternalStore(session.subscribe, session.snapshot);
}

export function useUi({ ui }: ViewContext): UiState {
  return useSyncExternalStore(ui.subscribe, ui.snapshot);
}

/** Renders when the set of the worker's threads changes. */
export function useThreads(session: DaemonSession): readonly string[] {
  return useSyncExternalStore(session.subscribe, () => session.counters.threads);
}

/** Renders its children at each notification, and nothing around them: a box that renders costs Ink a frame. */
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

/** Calls `paint` after all other components have rendered: synchronously when `ui` has changed, so that keys show
 * their effect at once, and otherwise in an effect, because a layout effect makes Ink write a frame. */
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
