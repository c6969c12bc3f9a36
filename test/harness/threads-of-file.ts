// Before each file of the system tests: proxies have one thread where their number is not the subject, since each further
// one makes a start dearer by a third.
import { expect } from 'vitest';
import { isOfAnyThreads } from './any-threads.js';
import { chooseThreads } from './proxy.ts';

chooseThreads(isOfAnyThreads(expect.getState().testPath ?? '') ? '1' : undefined);
