// Scenarios of edge-side includes.
import { compareScenarios } from './compare-scenarios.ts';

compareScenarios(/^esi-/);
