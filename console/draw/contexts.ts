// React contexts of all components: the theme, the charts, the format of times. Made once by mount.tsx.

import { createContext } from 'react';
import type { ChartPainter } from './chart.ts';
import { PaneTable } from './pane-table.ts';
import { makeTheme, type Theme } from './theme.ts';

/** The content of panes, shared with the frame sink. */
export const PanesContext = createContext(new PaneTable());

export const ThemeContext = createContext<Theme>(makeTheme('none', true));

/** Null where charts are not wanted (tests of single components). */
export const ChartContext = createContext<ChartPainter | null>(null);

/** Clock times in UTC (screenshots, tests) or in local time. */
export const UtcContext = createContext(false);
