// Loaded before Ink. Chalk, which Ink colours with, detects the colours of the terminal as it is loaded, and without
// any drops bold and inverse too. Here the theme decides that, style by style, so chalk is made to assume 256 colours.
// Theme and child processes see the environment as it was.

const { FORCE_COLOR } = process.env;
process.env.FORCE_COLOR = '2';

/** Call once Ink is loaded. */
export function restoreEnvironment(): void {
  if (FORCE_COLOR === undefined) delete process.env.FORCE_COLOR;
  else process.env.FORCE_COLOR = FORCE_COLOR;
}
