// The parts of Ink that the console uses, in one place.

import './chalk-level.ts';

import { restoreEnvironment } from './chalk-level.ts';

export { Box, type DOMElement, render, Text, Transform } from 'ink';

restoreEnvironment();
