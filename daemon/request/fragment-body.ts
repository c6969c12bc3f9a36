// Writes the body of a fragment into its page when its turn has come. Nothing else of the response leaves. In a packed
// page a packed body is spliced in as it is stored; a plain one is carried in stored blocks.

import { Tag } from '../../protocol/tables/tags.ts';
import type { ProgressReader, ProgressSource } from '../cache/roles.ts';
import type { DeliveryChain } from '../filters/chain.ts';
import { namedDeliveryFilters, usualDeliveryFilters } from '../filters/filter-table.ts';
import type { PageOutput } from '../filters/page-output.ts';
import { type Step, waitFor } from '../transaction/drive.ts';
import type { FragmentPlace } from '../transaction/fragment-place.ts';
import type { Request } from '../transaction/request.ts';
import { type BodyTarget, BodyWriter } from './body-writer.ts';
import { chooseFilters, finishAlone, isPacked, openBody, openChain, openPage } from './delivery-filters.ts';
import { PageTarget } from './page-target.ts';
import { PlacesSearch } from './places-search.ts';
import { FINISH, TRANSMIT } from './request-steps.ts';
import { SplicedTarget } from './spliced-target.ts';

/** Bytes of a packed body for one reader that may be waited for as a whole: more are unpacked on their way. */
const WHOLE = 128 * 1024;
const UNPACKED = namedDeliveryFilters('gunzip', []);

export function transmitFragment(req: Request, place: FragmentPlace): Step<Request> {
  const { core, attempt } = req;
  if (req.aborted) return FINISH;
  if (!place.isInTurn) return awaitTurn(req, place);
  const { oc } = attempt;
  if (oc === 0) return writeSynth(req, place.output);
  const { facts } = core.cache;
  const { output } = place;
  const joins = output.sum !== null && !req.isPage && isPacked(req);
  if (joins && !facts.isFinished(oc) && !facts.isFailed(oc) && mayBecomeWhole(req)) {
    return waitFor(req, (goOn) => new WholeWait(req, goOn).begin());
  }
  const isWhole = facts.isFinished(oc);
  if (joins && isWhole && req.isStoredGzip && attempt.places === undefined) {
    const search = new PlacesSearch(core.cache, oc);
    if (!search.lookOn()) return lookLonger(req, place, search);
    attempt.places = search.found;
  }
  const places = attempt.places ?? null;
  // What is no whole gzip stream, or not yet, is unpacked: what is wrong with it is then said.
  const isBroken = joins && places === null && !facts.isFailed(oc);
  const list = isBroken && !('unknown' in UNPACKED) ? UNPACKED : chooseFilters(req);
  if (list === null) {
    place.failed('no such filter');
    return FINISH;
  }
  const length = openBody(req, list);
  const { chain } = attempt;
  if (joins && facts.isFailed(oc)) {
    place.failed('its body broke off');
    return FINISH;
  }
  const { status } = req.resp;
  if (status < 200 || status === 204 || status === 304 || length === 0) return FINISH;
  const working = chain?.works === true ? chain : null;
  if (working === null && places === null && isWhole && output.makesRoom(length)) {
    writeStored(req, output, length);
    return FINISH;
  }
  const plan = { from: 0, to: Number.POSITIVE_INFINITY, length: -1 };
  const target =
    places !== null && working === null ? new SplicedTarget(output, places) : targetFor(req, output, working);
  if (target === null) {
    place.failed('packed by a filter, which cannot join a packed page');
    return FINISH;
  }
  return waitFor(req, (goOn) =>
    new BodyWriter(req, plan, working, target, (ok) => {
      if (!ok && !req.aborted) place.failed('its body broke off');
      finishAlone(req, goOn);
    }).start(),
  );
}

/** Goes on in the next turns, until it is known where the blocks lie. */
function lookLonger(req: Request, place: FragmentPlace, search: PlacesSearch): Step<Request> {
  // What is gathered must not wait with it.
  place.output.flush();
  return waitFor(req, (goOn) => {
    const go = (): void => {
      if (!req.aborted && !search.lookOn()) {
        place.budget.leaveTurn(go);
        return;
      }
      req.attempt.places = search.found;
      goOn(TRANSMIT);
    };
    place.budget.leaveTurn(go);
  });
}

/** Writes a whole stored body, for which the page has made room: it copies what it takes. */
export function writeStored({ core, attempt }: Request, output: PageOutput, length: number): void {
  const { reading } = core.cache;
  for (let at = 0; at < length; ) {
    const slice = reading.slice(attempt.oc, at, length - at);
    output.write(slice);
    at += slice.length;
  }
  attempt.bodyBytesOut = length;
}

/** Null where packed bytes come that cannot be spliced in. */
function targetFor(req: Request, output: PageOutput, chain: DeliveryChain | null): BodyTarget | null {
  const raw = new PageTarget(output, (bytes) => output.put(bytes));
  if (chain === null || !chain.gzipped || output.sum === null)
    return output.sum === null ? raw : new PageTarget(output, (bytes) => output.write(bytes));
  const names = chain.workingNames;
  if (names.length !== 1 || names[0] !== 'esi') return null;
  openPage(req).isBare = true;
  return raw;
}

/** What is to be written waits where it is; what a page of its own includes comes meanwhile. */
function awaitTurn(req: Request, place: FragmentPlace): Step<Request> {
  const { oc } = req.attempt;
  // Bytes that are lent for this turn only.
  req.resp.raw = null;
  if (req.isPage) openPage(req).waits();
  return waitFor(req, (goOn) => {
    req.onAbort = () => finishAlone(req, goOn);
    place.awaitTurn(oc === 0 || req.core.cache.facts.isFinished(oc), () => {
      req.onAbort = null;
      goOn(TRANSMIT);
    });
  });
}

function writeSynth(req: Request, output: PageOutput): Step<Request> {
  const { core, log, attempt } = req;
  const body = Buffer.from(attempt.synthBody ?? '', 'latin1');
  log.put(Tag.Storage, 'malloc Transient');
  openChain(req, usualDeliveryFilters(req, core.params), body.length, -1);
  attempt.bodyBytesOut = body.length;
  if (req.resp.status === 204 || req.resp.status === 304 || output.write(body)) return FINISH;
  return waitFor(req, (goOn) => {
    req.onAbort = () => goOn(FINISH);
    output.drained(() => {
      req.onAbort = null;
      goOn(FINISH);
    });
  });
}

/** Whether its end may be waited for without anybody reading it. */
function mayBecomeWhole({ core, attempt }: Request): boolean {
  const { facts, reading } = core.cache;
  if (!attempt.isPass && !facts.isUncacheable(attempt.oc)) return true;
  const declared = reading.declaredLength(attempt.oc);
  return declared >= 0 && declared <= WHOLE;
}

/** The wait of a packed fragment for its own end. */
class WholeWait implements ProgressReader {
  private readonly req: Request;
  private readonly goOn: (next: Step<Request>) => void;
  private source: ProgressSource | null = null;

  constructor(req: Request, goOn: (next: Step<Request>) => void) {
    this.req = req;
    this.goOn = goOn;
  }

  begin(): void {
    const { req } = this;
    req.onAbort = () => this.end(FINISH);
    this.source = req.core.cache.reading.onProgress(req.attempt.oc, this);
    // What is gathered must not wait with it.
    req.fragment?.output.flush();
  }

  progress(): void {
    const { facts } = this.req.core.cache;
    const { oc } = this.req.attempt;
    if (facts.isFinished(oc) || facts.isFailed(oc)) this.end(TRANSMIT);
  }

  private end(step: Step<Request>): void {
    this.source?.detach(this);
    this.req.onAbort = null;
    this.goOn(step);
  }
}
