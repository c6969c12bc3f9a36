// Of the unit tests: properties that name no number of cases play what runs.ts makes of fast-check's hundred. The cases are the
// same in each run, so that a red is of the change at hand; PROXYD_SEED=random, which the stress run sets, plays others.
import fc from 'fast-check';
import { runs } from './runs.ts';

/** Any number will do. */
const SEED = 20_261_129;

const { PROXYD_SEED: chosen } = process.env;
const seed = chosen === undefined || chosen === '' ? SEED : Number(chosen);
fc.configureGlobal({ numRuns: runs(100), ...(chosen === 'random' ? {} : { seed }) });
