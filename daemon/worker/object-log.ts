// Records about the end of objects: ExpKill when expiry, the LRU or a purge removes one, ExpBan when the ban lurker
// does. They belong to no transaction, except for evictions, which the fetch that needs the room logs. ExpKill is
// masked by default, and then no text is built.

import { Tag } from '../../protocol/tables/tags.ts';
import type { ObjectEvents } from '../cache/cache-state.ts';
import { type Oc, OF_HIT_MISS, OF_HIT_PASS } from '../cache/objcore.ts';
import type { ObjectFacts } from '../cache/object-facts.ts';
import type { TxLog } from '../log/tx-log.ts';

export class ObjectLog implements ObjectEvents {
  /** Whether the lurker's removals are logged. */
  lurkerDebug = false;
  /** Whether events have the texts of Varnish 7.5 and later. */
  newerWords = false;
  private readonly facts: () => ObjectFacts;
  private readonly now: () => number;
  private readonly log: TxLog;
  private readonly fetchLog: TxLog;

  /** @param now epoch seconds @param log of the worker @param fetchLog free for use by any transaction */
  constructor(facts: () => ObjectFacts, now: () => number, log: TxLog, fetchLog: TxLog) {
    this.facts = facts;
    this.now = now;
    this.log = log;
    this.fetchLog = fetchLog;
  }

  wanted(): boolean {
    return this.log.wants(Tag.ExpKill);
  }

  inserted(oc: Oc, end: number): void {
    if (!this.log.wants(Tag.ExpKill)) return;
    this.expKill(`EXP_Inbox flg=1e p=${pointer(oc)} e=0.000000 f=${this.flags(oc)}`);
    this.expKill(`EXP_When p=${pointer(oc)} e=${end.toFixed(6)} f=0x1e`);
  }

  rearmed(oc: Oc, from: number, to: number): void {
    if (!this.log.wants(Tag.ExpKill)) return;
    const p = pointer(oc);
    const f = this.flags(oc);
    this.expKill(`EXP_Rearm p=${p} E=${from.toFixed(6)} e=${to.toFixed(6)} f=${f}`);
    this.expKill(`EXP_Inbox flg=e p=${p} e=${from.toFixed(6)} f=${f}`);
    this.expKill(`EXP_When p=${p} e=${to.toFixed(6)} f=0xe`);
  }

  removed(oc: Oc, end: number): void {
    if (!this.log.wants(Tag.ExpKill)) return;
    this.expKill(`EXP_Inbox flg=26 p=${pointer(oc)} e=${end.toFixed(6)} f=0x80`);
    if (!this.newerWords) return;
    const facts = this.facts();
    const left = facts.tOriginOf(oc) + facts.ttlOf(oc) - this.now();
    this.expKill(`EXP_Removed x=${facts.vxidOf(oc)} t=${left.toFixed(0)} h=${facts.hitsOf(oc)}`);
  }

  /** Until Varnish 7.5 a purge ended an object's time. */
  purged(oc: Oc, end: number, now: number): void {
    if (this.newerWords) this.removed(oc, end);
    else {
      this.rearmed(oc, end, now);
      this.expired(oc, 0);
    }
  }

  superseded(oc: Oc, by: Oc): void {
    if (!this.newerWords || !this.log.wants(Tag.ExpKill)) return;
    const facts = this.facts();
    this.expKill(`VBF_Superseded x=${facts.vxidOf(oc)} n=${facts.vxidOf(by)}`);
  }

  expired(oc: Oc, late: number): void {
    if (!this.log.wants(Tag.ExpKill)) return;
    const { newerWords } = this;
    const inspected = newerWords ? 'EXP_Inspect' : 'EXP_expire';
    this.expKill(`${inspected} p=${pointer(oc)} e=${(-late).toFixed(6)} f=${this.flags(oc)}`);
    const hits = newerWords ? ` h=${this.facts().hitsOf(oc)}` : '';
    this.expKill(`EXP_Expired x=${this.facts().vxidOf(oc)} t=-${Math.floor(late)}${hits}`);
  }

  evicted(oc: Oc, by: Oc): void {
    if (!this.fetchLog.wants(Tag.ExpKill)) return;
    this.fetchLog.begin(this.facts().vxidOf(by), 'b');
    this.fetchLog.put(Tag.ExpKill, `LRU_Cand p=${pointer(oc)} f=${this.flags(oc)} r=1`);
    this.fetchLog.put(Tag.ExpKill, `LRU x=${this.facts().vxidOf(oc)}`);
  }

  noVictim(by: Oc): void {
    this.fetchLog.begin(this.facts().vxidOf(by), 'b');
    this.fetchLog.put(Tag.ExpKill, 'LRU_Fail');
  }

  banned(oc: Oc): void {
    if (this.lurkerDebug) this.log.put(Tag.ExpBan, `${this.facts().vxidOf(oc)} banned by lurker`);
  }

  private expKill(text: string): void {
    this.log.put(Tag.ExpKill, text);
  }

  private flags(oc: Oc): string {
    const facts = this.facts();
    if (facts.has(oc, OF_HIT_PASS)) return '0xc';
    return facts.has(oc, OF_HIT_MISS) ? '0x4' : '0x0';
  }
}

/** An address for the object in Varnish's format: scripts join records by it. */
function pointer(oc: Oc): string {
  return `0x${(0x7f00_0000_0000 + oc * 192).toString(16)}`;
}
