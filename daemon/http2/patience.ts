// How much work a client may cause that brings nobody any further: frames such as PING, SETTINGS, PRIORITY, empty DATA
// and small WINDOW_UPDATEs are legal in any number (RFC 9113 section 10.5). Each costs one; time and bytes that are sent or
// received give some back. A connection that has used up all is closed.

/** Frames at once (chosen: a browser's page of a thousand images has a few hundred). */
const MOST = 2000;
/** Frames a second that anybody may send for ever. */
const A_SECOND = 100;
/** Bytes of bodies and heads for which a frame more is ordinary. */
const BYTES = 2048;

export class Patience {
  private left = MOST;
  private at: number;

  /** @param now seconds of any clock */
  constructor(now: number) {
    this.at = now;
  }

  /** Bytes of use have passed, in either direction. */
  earn(bytes: number): void {
    this.earnFrames(bytes / BYTES);
  }

  /** Something of use has been asked for that such frames belong to. */
  earnFrames(frames: number): void {
    this.left = Math.min(MOST, this.left + frames);
  }

  /** Takes `frames` off; false when there is nothing left. The clock is asked for only where the rest runs low. */
  spend(frames: number, now: () => number): boolean {
    this.left -= frames;
    if (this.left > MOST / 2) return true;
    const time = now();
    this.left = Math.min(MOST, this.left + Math.max(0, time - this.at) * A_SECOND);
    this.at = time;
    return this.left > 0;
  }
}
