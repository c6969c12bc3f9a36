// The console's views, in the order of Tab; the first is shown at start. To add a view, create a folder here and add
// a line.

import type { View } from '../model/ui/view.ts';
import { BACKENDS_VIEW } from './backends/backends-view.ts';
import { BANS_VIEW } from './bans/bans-view.ts';
import { CAUSES_VIEW } from './causes/causes-view.ts';
import { CERTIFICATES_VIEW } from './certificates/certificates-view.ts';
import { CHANGES_VIEW } from './changes/changes-view.ts';
import { DASHBOARD_VIEW } from './dashboard/dashboard-view.tsx';
import { EDGE_VIEW } from './edge/edge-view.ts';
import { EVENTS_VIEW } from './events/events-view.ts';
import { FLEET_VIEW } from './fleet/fleet-view.ts';
import { INVALIDATIONS_VIEW } from './fleet/invalidations-view.ts';
import { LATENCY_VIEW } from './latency/latency-view.tsx';
import { LOG_VIEW } from './log/log-view.tsx';
import { PANICS_VIEW } from './panics/panics-view.ts';
import { PARAMETERS_VIEW } from './parameters/parameters-view.ts';
import { PROGRAMS_VIEW } from './programs/programs-view.ts';
import { STATS_VIEW } from './stats/stats-view.tsx';
import { STORAGE_VIEW } from './storage/storage-view.ts';
import { TOP_VIEW } from './top/top-view.ts';

export const VIEWS: readonly View[] = [
  DASHBOARD_VIEW,
  LOG_VIEW,
  STATS_VIEW,
  BACKENDS_VIEW,
  PROGRAMS_VIEW,
  PARAMETERS_VIEW,
  BANS_VIEW,
  STORAGE_VIEW,
  TOP_VIEW,
  LATENCY_VIEW,
  PANICS_VIEW,
  EDGE_VIEW,
  CERTIFICATES_VIEW,
  CAUSES_VIEW,
  EVENTS_VIEW,
  CHANGES_VIEW,
  FLEET_VIEW,
  INVALIDATIONS_VIEW,
];
