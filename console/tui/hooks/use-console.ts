// Subscriptions of components to what lives outside React.

import { useSyncExternalStore } from 'react';
import type { Controller } from '../../model/controller.ts';
import type { Session } from '../../model/session.ts';
import type { UiState } from '../../model/ui-state.ts';

/** Renders again whenever the session tells of new data; the number only differs. */
export function useSessionTick(session: Session): number {
  return useSyncExternalStore(session.subscribe, session.snapshot);
}

export function useUi(controller: Controller): UiState {
  return useSyncExternalStore(controller.subscribe, controller.snapshot);
}
