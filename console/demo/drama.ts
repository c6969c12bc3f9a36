// What goes wrong in the demo's shop, and is put right: acts in turns, so that every view soon has something to explain. The
// origin and the traffic look at the scene; an act changes it for a while.

/** What the acts change, and what origin and traffic look at. */
export interface Scene {
  /** The image server's health page says no, and so do its images. */
  imagesSick: boolean;
  /** Milliseconds that articles and reports take longer. */
  slowness: number;
  /** Visitors of a newsletter: their share of the usual rate, on top of it; 0 is none. */
  burst: number;
  /** Which release of the shop is out. */
  release: number;
}

/** What the acts may do to the proxy; each resolves with what it answered. */
export interface Stagehand {
  /** Bans what was fetched of the release before. */
  banStatic(): Promise<string>;
  /** Gives it a program with a mistake. */
  loadBadProgram(): Promise<string>;
}

interface Act {
  /** Seconds from the beginning of a round, and how long it lasts; 0: only a moment. */
  readonly at: number;
  readonly lasts: number;
  readonly opens: string;
  readonly closes?: string;
  /** How the scene is while it lasts, and after it. */
  set?(scene: Scene, isOn: boolean): void;
  /** What somebody does to the proxy when it begins. */
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

/** Seconds of a round; then it begins anew. */
const ROUND = 90;

/** A program that is refused, as it may come from somebody in a hurry. */
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

/** Plays the acts until stopped.
 * @param told gets a line when an act begins or ends */
export function startDrama(scene: Scene, hand: Stagehand, told: (line: string) => void): { stop(): void } {
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
    told(act.opens);
    act.set?.(scene, true);
    act.action?.(hand).then(
      (answer) => {
        if (!isOver && answer !== '') told(answer);
      },
      // Whether the proxy is gone is said by the demo itself.
      () => undefined,
    );
  };
  const end = (act: Act): void => {
    told(act.closes ?? act.opens);
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
