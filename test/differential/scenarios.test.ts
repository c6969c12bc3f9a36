// Scenarios of fetches, storages, commands and the smaller extensions.
import { compareScenarios } from './compare-scenarios.ts';

compareScenarios(/^(?!esi-|gzip|saintmode)/);
