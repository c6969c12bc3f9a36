// Scenarios of packed bodies and saint mode, which wait for counters and for lives to end.
import { compareScenarios } from './compare-scenarios.ts';

compareScenarios(/^(?:gzip|saintmode)/);
