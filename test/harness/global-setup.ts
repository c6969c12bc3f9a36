import { execFileSync } from 'node:child_process';

/** Builds dist/ once before any test runs; system tests drive the compiled programs. */
export default function setup(): void {
  if (process.env.PROXYD_SKIP_BUILD === '1') return;
  execFileSync('npm', ['run', '-s', 'build'], { stdio: 'inherit' });
}
