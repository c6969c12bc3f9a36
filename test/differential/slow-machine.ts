// A machine that does other things as well takes longer for a case than the one on which Varnish was recorded. An object
// is older then, and a backend that refused a connection may be asked again. That much, and no more, may ours answer
// differently: as many seconds as the case took, which are none as a rule.

const AGE = /\bAge: (\d+)\b/;
const REFUSED = 'fail errno 111 (Connection refused)';
/** Varnish and ours do not reconnect for that many seconds, and report another error (backend_remote_error_holddown). */
const HELD_DOWN = 'fail errno 0 (Success)';
const HOLDDOWN = 0.25;

/** Seconds that cases of ours took, by their names. */
export class CaseTimes {
  readonly #seconds = new Map<string, number>();

  /** Call before a case; what it returns, after it. */
  start(name: string): () => void {
    const began = performance.now();
    return () => {
      this.#seconds.set(name, (performance.now() - began) / 1000);
    };
  }

  /** Our lines, with those of Varnish in the places where only the time that the case took differs. */
  allow(name: string, ours: readonly string[], theirs: readonly string[]): string[] {
    const seconds = this.#seconds.get(name) ?? 0;
    return ours.map((line, i) =>
      isOnlySlower(line, theirs[i] ?? '', seconds) ? (theirs[i] as string) : line,
    );
  }
}

function isOnlySlower(ours: string, theirs: string, seconds: number): boolean {
  if (ours === theirs) return false;
  const older = Number(AGE.exec(ours)?.[1]) - Number(AGE.exec(theirs)?.[1]);
  if (older > 0 && older <= seconds) return ours.replace(AGE, '') === theirs.replace(AGE, '');
  return seconds > HOLDDOWN && ours.includes(REFUSED) && ours.replace(REFUSED, HELD_DOWN) === theirs;
}
