// Of the unit tests: properties that name no number of cases play what runs.ts makes of fast-check's hundred.
import fc from 'fast-check';
import { runs } from './runs.ts';

fc.configureGlobal({ numRuns: runs(100) });
