// Loaded before Ink. Chalk, by which Ink colours, decides as it is loaded whether the terminal has colours, and without
// them it drops bold and inverse too. Here the theme decides that, style by style, so chalk is told that there are 256
// colours. Theme and child processes see the environment as it was.

const { FORCE_COLOR } = process.env;
process.env.FORCE_COLOR = '2';

/** To be called once Ink is loaded. */
export function restoreEnvironment(): void {
  if (FORCE_COLOR === undefined) delete process.env.FORCE_COLOR;
  else process.env.FORCE_COLOR = FORCE_COLOR;
}
