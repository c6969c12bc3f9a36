import { build } from './build/build.js';

/** Builds dist/ before the first test where it is older than the sources: these tests drive the compiled programs. */
export default function setup(): void {
  build({ ifOlder: true });
}
