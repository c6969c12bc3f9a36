// Loaded before a program and its threads (node --require): its clock is ahead by as many milliseconds as stand in the file
// that CLOCK_AHEAD names. Wall time and performance.now() move together, as they do when time simply passes.
'use strict';
const { openSync, readSync } = require('node:fs');
const { performance } = require('node:perf_hooks');

const file = openSync(process.env.CLOCK_AHEAD, 'r');
const bytes = Buffer.alloc(16);
const ahead = () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 16, 0)) || 0);
const wall = Date.now.bind(Date);
const steady = performance.now.bind(performance);

Date.now = () => wall() + ahead();
performance.now = () => steady() + ahead();
