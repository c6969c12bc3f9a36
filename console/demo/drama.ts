// Scripted incidents of the demo's shop, each resolved after a while, so that every view soon has something to
// explain. Origin and traffic read the scene; an act modifies it for some time.

/** The state that acts modify, read by origin and traffic. */
export interface Scene {
  /** Health checks of the image server fail, as do its images. */
  imagesSick: boolean;
  /** Extra milliseconds for articles and reports. */
  slowness: number;
  /** Additional newsletter visitors, as a share of the usual rate; 0 is none. */
  burst: number;
  /** The shop's current release. */
  release: number;
}

/** Operations of acts on the proxy; each resolves with its reply. */
export interface Stagehand {
  /** Bans objects of the former release. */
  banStatic(): Promise<string>;
  /** Loads a program that does not compile. */
  loadBadProgram(): Promise<string>;
}

interface Act {
  /** Seconds from the start of a round, and the duration; 0: instantaneous. */
  readonly at: number;
  readonly lasts: number;
  readonly opens: string;
  readonly closes?: string;
  /** Changes the scene at the start and at the end. */
  set?(scene: Scene, isOn: boolean): void;
  /** Operation on the proxy at its start. */
  action?(hand: Stagehand): Promise<string>;
}

const ACTS: readonly Act[] = [
  {
    at: 12,
    lasts: 14,
    opens: 'the image server turns sick',
    closes: 'the image server is well again',
    set: (scene, isOn) => {
      scene.imagesSick = isOn;
    },
  },
  {
    at: 34,
    lasts: 0,
    opens: 'a new release is out, and what was fetched of the last one is banned',
    set: (scene) => {
      scene.release++;
    },
    action: (hand) => hand.banStatic(),
  },
  {
    at: 44,
    lasts: 10,
    opens: 'a newsletter brings a burst of visitors, each with a query string of his own',
    closes: 'the burst is over',
    set: (scene, isOn) => {
      scene.burst = isOn ? 4 : 0;
    },
  },
  {
    at: 60,
    lasts: 0,
    opens: 'a program with a mistake is given, and refused',
    action: (hand) => hand.loadBadProgram(),
  },
  {
    at: 68,
    lasts: 14,
    opens: 'articles and reports become slow at the origin',
    closes: 'the origin is quick again',
    set: (scene, isOn) => {
      scene.slowness = isOn ? 900 : 0;
    },
  },
];

/** Seconds per round, then repeated. */
const ROUND = 90;

/** A program with an error, as from an operator in a hurry. */
export const BAD_PROGRAM = `vcl 4.1;
import std;
backend shop { .host = "127.0.0.1"; }
sub vcl_recv {
  if (req.url ~ "^/cart") {
    retrun (pass);
  }
}
`;

export function newScene(): Scene {
  return { imagesSick: false, slowness: 0, burst: 0, release: 1 };
}

/**
 * Plays the acts until stopped.
 * @param log gets a line when an act begins or ends
 */
export function startDrama(scene: Scene, hand: Stagehand, log: (line: string) => void): { stop(): void } {
  const timers = new Set<NodeJS.Timeout>();
  let isOver = false;
  const at = (seconds: number, run: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, seconds * 1000);
    timers.add(timer);
  };
  const begin = (act: Act): void => {
    log(act.opens);
    act.set?.(scene, true);
    act.action?.(hand).then(
      (answer) => {
        if (!isOver && answer !== '') log(answer);
      },
      // The demo itself reports a dead proxy.
      () => undefined,
    );
  };
  const end = (act: Act): void => {
    log(act.closes ?? act.opens);
    act.set?.(scene, false);
  };
  const round = (): void => {
    for (const act of ACTS) {
      at(act.at, () => begin(act));
      if (act.lasts > 0) at(act.at + act.lasts, () => end(act));
    }
    at(ROUND, round);
  };
  round();
  return {
    stop: () => {
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
