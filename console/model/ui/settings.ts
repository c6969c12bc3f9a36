// Choices of the operator that stay from one session to the next.

/** Layouts of the dashboard: all panels, tall charts, long lists. */
export const LAYOUTS = ['balanced', 'charts', 'lists'] as const;
export type LayoutName = (typeof LAYOUTS)[number];

export interface Settings {
  /** Rings for events that are trouble. */
  readonly bell: boolean;
  readonly layout: LayoutName;
}

export const INITIAL_SETTINGS: Settings = { bell: false, layout: 'balanced' };
