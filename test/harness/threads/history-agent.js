// One thread of a random history: requests as proxyd makes them, fetches as origins answer them, purges and bans.
// Every body identifies itself (URL, language, version, length) and is checked byte by byte wherever it is read,
// including while it grows. The version counts the invalidations of a URL before its fetch began. After a purge has
// returned, `least` is raised: a lookup that begins then must not get an older one. A private body names its request,
// and no other may get it.

const modules = new URL('../../../dist/modules/daemon/', import.meta.url);
const load = (path) => import(new URL(path, modules).href);
const { LookupAnswer, LookupQuery, LookupResult } = await load('cache/lookup-query.js');
const { OF_FAILURE, OF_HIT_MISS, OF_HIT_PASS } = await load('cache/objcore.js');
const { varyKey } = await load('cache/vary.js');
const { HttpMessage } = await load('http1/message.js');

export const T0 = 1_700_000_000;
const LANGS = ['de', 'en', 'fr'];
/** Bytes at the beginning of a body: its URL, version, language, length, salt, and its only reader or 0. */
const HEAD = 24;
const PATTERN = Buffer.alloc(128 * 1024);
for (let i = 0; i < 64 * 1024; i++) PATTERN[i] = (Math.imul(i, 2654435761) >>> 13) & 255;
PATTERN.copy(PATTERN, 64 * 1024, 0, 64 * 1024);
const MOST_AT_ONCE = 40;
const TRANSIT = 64 * 1024;
const BIG = 5 << 20;

/** Numbers that all threads have: a clock in milliseconds, ids, and what is invalid, by URL. */
export class Common {
  constructor(urls, memory = new SharedArrayBuffer(16 + urls * 12)) {
    this.memory = memory;
    this.urls = urls;
    this.words = new Int32Array(memory, 0, 4);
    this.version = new Int32Array(memory, 16, urls);
    /** The least version that may be found fresh, and the least that may be found at all. */
    this.fresh = new Int32Array(memory, 16 + urls * 4, urls);
    this.least = new Int32Array(memory, 16 + urls * 8, urls);
  }
  get now() {
    return T0 + Atomics.load(this.words, 0) / 1000;
  }
  pass(millis) {
    Atomics.add(this.words, 0, millis);
  }
  nextId() {
    return Atomics.add(this.words, 1, 1) + 1;
  }
}

export function raise(words, at, value) {
  for (let is = Atomics.load(words, at); is < value; is = Atomics.load(words, at)) {
    if (Atomics.compareExchange(words, at, is, value) === is) return;
  }
}

/** Numbers from a seed. */
export function randomOf(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Agent {
  /** `behind`: milliseconds by which this thread's clock lags the first one's, as with real threads. */
  constructor(cache, common, random, { groups, churn, behind, secrets = 0.01 }) {
    this.cache = cache;
    this.behind = behind / 1000;
    this.common = common;
    this.random = random;
    this.groups = groups;
    /** Share of additional invalidations among operations. */
    this.invalidations = churn ? 0.06 : 0;
    /** Share of private responses, besides the URLs that have no others. */
    this.secrets = secrets;
    this.problems = [];
    /** Operations in progress, with a description. */
    this.tasks = new Map();
    this.done = {};
    this.ops = 0;
    this.buffer = Buffer.alloc(64 * 1024);
    this.decoded = new HttpMessage(0);
    this.moved = 0;
  }

  get now() {
    return this.common.now - this.behind;
  }

  fault(text) {
    if (this.problems.length < 10) this.problems.push(text);
  }

  count(what) {
    this.ops++;
    this.moved++;
    this.done[what] = (this.done[what] ?? 0) + 1;
  }

  /** Runs this many operations, until all that they started has ended. */
  async run(ops) {
    const end = this.ops + ops;
    while (this.ops < end && this.problems.length === 0) {
      for (let i = 0; i < 100 && this.tasks.size < MOST_AT_ONCE; i++) this.step();
      await turn();
    }

    let seen = -1;
    for (let since = Date.now(); this.tasks.size > 0; ) {
      if (this.moved !== seen) {
        seen = this.moved;
        since = Date.now();
      }
      if (Date.now() - since > 10_000) {
        this.fault(`never woken: ${[...this.tasks.values()].slice(0, 5).join('; ')}`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  step() {
    const { random, common } = this;
    const kind = random() < this.invalidations ? 0.985 + random() * 0.0115 : random();
    if (kind < 0.965) {
      this.request();
    } else if (kind < 0.985) {
      common.pass(Math.floor(random() * 20));
      this.count('clock');
    } else if (kind < 0.9905) {
      this.purgeUrl();
    } else if (kind < 0.994) {
      this.purgeKeys();
    } else if (kind < 0.9965) {
      this.ban();
    } else {
      this.pass(this.pickUrl(), 'en');
    }
  }

  pickUrl() {
    const { random, common } = this;
    return random() < 0.5 ? Math.floor(random() * 12) : Math.floor(random() * common.urls);
  }

  begin(what) {
    const id = Symbol(what);
    this.tasks.set(id, what);
    return () => {
      this.tasks.delete(id);
      this.moved++;
    };
  }

  // Requests

  request() {
    const { common, random } = this;
    const url = this.pickUrl();
    const lang = LANGS[Math.floor(random() * LANGS.length)];
    const message = new HttpMessage(0);
    message.url = `/u${url}`;
    message.push('lang', `Lang: ${lang}`);
    const query = new LookupQuery(message);
    query.key = `/u${url}\0host`;
    query.hashAlwaysMiss = random() < 0.003;
    query.hashIgnoreBusy = random() < 0.003;
    this.look({ url, lang, query, out: new LookupResult(), who: common.nextId() });
  }

  look(r) {
    const { cache, common, random } = this;
    const fresh = Atomics.load(common.fresh, r.url);
    const least = Atomics.load(common.least, r.url);
    r.query.now = this.now;
    const answer = cache.lookup.find(r.query, r.out);
    const { oc, busy, stale } = r.out;
    switch (answer) {
      case LookupAnswer.HIT:
        this.count('hit');
        cache.hits.count(oc);
        cache.hits.touch(oc, r.query.now);
        this.readObject(oc, r, fresh, 'hit');
        return;
      case LookupAnswer.GRACE:
        this.count('grace');
        this.readObject(oc, r, least, 'grace');
        if (busy !== 0) this.fetch(busy, r.url, r.lang, common.nextId(), { isBackground: true });
        return;
      case LookupAnswer.MISS:
      case LookupAnswer.HITMISS: {
        this.count(answer === LookupAnswer.MISS ? 'miss' : 'hitmiss');
        if (random() < 0.02) {
          // The request goes away before there is a fetch.
          this.release(busy);
          if (stale !== 0) this.release(stale);
          return;
        }
        cache.references.ref(busy);
        const reader = this.readObject(busy, r, least);
        this.fetch(busy, r.url, r.lang, r.who, { stale, reader });
        return;
      }
      case LookupAnswer.HITPASS:
        this.count('hitpass');
        this.pass(r.url, r.lang);
        return;
      case LookupAnswer.BUSY: {
        this.count('busy');
        const end = this.begin(`waits for /u${r.url}`);
        const leave = cache.lookup.wait(r.query.key, {
          wake: (alone) => {
            end();
            r.query.waited = true;
            r.query.hashIgnoreBusy = alone;
            this.look(r);
          },
        });
        if (random() < 0.03) {
          setImmediate(() => {
            if (this.tasks.size === 0) return;
            leave();
            end();
          });
        }
        return;
      }
      case LookupAnswer.UNTESTED: {
        this.count('untested');
        const end = this.begin('waits for its turn to test');
        cache.lookup.waitTurn({
          wake: () => {
            end();
            this.look(r);
          },
        });
        return;
      }
      default:
        this.fault(`lookup answered ${answer}`);
    }
  }

  pass(url, lang) {
    const { cache, common } = this;
    const who = common.nextId();
    this.count('pass');
    const oc = cache.filling.newPrivate();
    cache.references.ref(oc);
    const reader = this.readObject(oc, { url, lang, who }, 0);
    this.fetch(oc, url, lang, who, { isPrivate: true, reader });
  }

  release(oc) {
    this.cache.references.deref(oc);
  }

  readObject(oc, r, least, answer = 'miss') {
    const reader = new Reader(this, oc, r, least, answer);
    reader.start();
    return reader;
  }

  // Fetches

  async fetch(oc, url, lang, who, { isPrivate = false, isBackground = false, stale = 0, reader = null }) {
    const { cache, common, random } = this;
    const { filling, facts } = cache;
    const end = this.begin(`fetches /u${url} into ${oc}`);
    // The origin answers with what is valid now.
    const version = Atomics.load(common.version, url);
    const fate = random();
    const isMarker = !isPrivate && (url % 11 === 5 || random() < this.secrets);
    const isTransit = isPrivate || isMarker;
    let isOver = false;
    let wake = null;
    const close = (outcome) => {
      this.count(outcome);
      this.release(oc);
      if (stale !== 0) this.release(stale);
      end();
    };
    if (isTransit && !isBackground) {
      filling.onConsume(oc, () => {
        if (filling.isAbandoned(oc)) isOver = true;
        wake?.();
      });
    }
    for (let i = Math.floor(random() * 3); i > 0; i--) await turn();
    if (fate < 0.015) {
      // No other thread knows that there will be nothing to read.
      if (reader !== null) filling.fail(oc);
      close('unfetched');
      return;
    }
    const id = common.nextId();
    const length = this.pickLength();
    const body = {
      url,
      version,
      lang: LANGS.indexOf(lang),
      length,
      salt: id & 0xffff,
      owner: isTransit ? who : 0,
    };
    const head = new HttpMessage(0);
    head.proto = 'HTTP/1.1';
    head.status = 200;
    head.reason = 'OK';
    const push = (name, value) => head.push(name.toLowerCase(), `${name}: ${value}`);
    push('X-Id', id);
    push('X-Url', `/u${url}`);
    push('X-Group', `g${url % this.groups}`);
    if (random() < 0.7) push('Content-Length', length);
    const varies = url % 3 === 0;
    if (url % 2 === 0) push('xkey', `all${url % 5} g${url % this.groups} u${url}`);
    const request = new HttpMessage(0);
    request.push('lang', `Lang: ${lang}`);
    if (varies) push('Vary', 'Lang');
    const marker = (url % 2 === 0 ? OF_HIT_PASS : OF_HIT_MISS) | (random() < 0.3 ? OF_FAILURE : 0);
    const flags = isMarker ? marker : 0;
    const [ttl, grace, keep] = [random() * 5, random(), random() < 0.5 ? 0 : random()];
    filling.setAttributes(oc, { tOrigin: this.now, ttl, grace, keep, vxid: id, flags });
    const vary = varies && !isPrivate ? varyKey('Lang', request) : null;
    const storage = isTransit || length >= BIG ? 'Transient' : null;
    const fail = (outcome) => {
      filling.takeBackHead(oc);
      filling.fail(oc);
      close(outcome);
    };
    if (!filling.storeHead(oc, storage, head, vary) || fate < 0.03) {
      fail('failed early');
      return;
    }
    const isStreamed = random() < 0.8;
    if (isStreamed) filling.unbusy(oc, isMarker);
    const pieces = length > 100_000 ? 6 : 1 + Math.floor(random() * 3);
    const size = Math.ceil(length / pieces);
    for (let at = 0; at < length; at += size) {
      const piece = bytesOf(body, at, Math.min(length, at + size));
      if (!filling.append(oc, piece, 0, piece.length)) {
        fail('failed for room');
        return;
      }
      while (isTransit && isStreamed && !isBackground && !isOver && filling.inTransit(oc) > TRANSIT) {
        this.moved++;
        await new Promise((resolve) => {
          wake = resolve;
          if (isOver || filling.inTransit(oc) <= TRANSIT) resolve();
        });
        wake = null;
      }
      if (isOver) {
        fail('abandoned');
        return;
      }
      if (random() < 0.4) await turn();
      if (fate < 0.05) {
        fail('failed midway');
        return;
      }
    }
    if (!isTransit && random() < 0.1) filling.setAnnex(oc, Buffer.alloc(8 + (id % 100), id & 255));
    filling.takeBackHead(oc);
    filling.finish(oc, isMarker);
    if (!facts.isFinished(oc)) this.fault('finished, and is not');
    close(isBackground ? 'fetched behind' : reader === null ? 'fetched alone' : 'fetched');
  }

  pickLength() {
    const { random } = this;
    const kind = random();
    if (kind < 0.6) return HEAD + Math.floor(random() * 2000);
    if (kind < 0.98) return HEAD + Math.floor(random() * 10_000);
    if (kind < 0.9997) return HEAD + Math.floor(random() * 200_000);
    return BIG + Math.floor(random() * 1000);
  }

  // Invalidation

  /** The URLs get another version, then `invalidate` makes the old ones invalid, and no later request may get them. */
  invalidate(urls, isSoft, invalidate) {
    const { common } = this;
    const versions = urls.map((url) => Atomics.add(common.version, url, 1) + 1);
    invalidate();
    urls.forEach((url, i) => {
      raise(common.fresh, url, versions[i]);
      if (!isSoft) raise(common.least, url, versions[i]);
    });
  }

  purgeUrl() {
    const { cache, random } = this;
    const url = this.pickUrl();
    const isSoft = random() < 0.4;
    this.count(isSoft ? 'soft purge' : 'purge');
    const soft = isSoft ? { ttl: 0, grace: 1, keep: 1 } : null;
    this.invalidate([url], isSoft, () => cache.invalidation.purge(`/u${url}\0host`, this.now, soft));
  }

  purgeKeys() {
    const { cache, common, random } = this;
    const isSoft = random() < 0.4;
    this.count(isSoft ? 'soft purge by key' : 'purge by key');
    const group = Math.floor(random() * this.groups);
    const tagged = range(common.urls).filter((url) => url % 2 === 0);
    const [keys, urls] =
      random() < 0.1
        ? [`all${group % 5}`, tagged.filter((url) => url % 5 === group % 5)]
        : [`g${group}`, tagged.filter((url) => url % this.groups === group)];
    this.invalidate(urls, isSoft, () => cache.invalidation.purgeTags(keys, isSoft, this.now));
  }

  ban() {
    const { cache, common, random } = this;
    const isSoft = random() < 0.4;
    this.count(isSoft ? 'soft ban' : 'ban');
    const url = this.pickUrl();
    const group = url % this.groups;
    const [urls, text] = [
      [[url], `obj.http.x-url == /u${url}`],
      [[url], `req.url == /u${url}`],
      [[url], `req.url ~ ^/u${url}$`],
      [range(common.urls).filter((each) => each % this.groups === group), `obj.http.x-group == g${group}`],
    ][Math.floor(random() * 4)];
    this.invalidate(urls, isSoft, () => {
      const error = cache.bans.addText(text, this.now, isSoft);
      if (error !== null) this.fault(error);
    });
  }
}

/** Reads one body to its end, or leaves before. */
class Reader {
  constructor(agent, oc, r, least, answer) {
    this.agent = agent;
    this.oc = oc;
    this.r = r;
    this.least = least;
    this.answer = answer;
    this.at = 0;
    this.head = null;
    this.source = null;
    this.end = null;
    this.isOver = false;
    /** Views that are looked at again at the end, with their places. */
    this.kept = agent.random() < 0.02 ? [] : null;
    this.leavesAt = agent.random() < 0.03 ? agent.random() * 100_000 : Number.POSITIVE_INFINITY;
  }

  start() {
    const { agent, oc } = this;
    const { cache } = agent;
    if (!cache.facts.isFinished(oc)) {
      this.end = agent.begin(`reads ${oc} of /u${this.r.url}`);
      this.source = cache.reading.onProgress(oc, this);
    }
    this.pump();
  }

  progress() {
    this.pump();
  }

  pump() {
    const { agent, oc } = this;
    const { reading, facts } = agent.cache;
    if (this.isOver) return;
    if (facts.isFailed(oc)) {
      this.close('failed');
      return;
    }
    if (!facts.isDeliverable(oc)) return;
    for (;;) {
      const isWhole = facts.isFinished(oc);
      const have = reading.bodyLength(oc);
      if (this.at >= have || (this.head === null && have < HEAD)) {
        if (isWhole) this.whole();
        return;
      }
      this.take(have);
      if (agent.problems.length > 0 || this.at >= this.leavesAt) {
        this.close('left');
        return;
      }
      reading.consume(oc, this.at);
    }
  }

  take(have) {
    const { agent, oc, at } = this;
    const { reading } = agent.cache;
    if (this.head === null) {
      const copied = reading.copyBody(oc, 0, agent.buffer, 0, HEAD);
      if (copied !== HEAD) agent.fault(`only ${copied} bytes of a body of ${have}`);
      this.readHead(agent.buffer);
      this.at = HEAD;
      return;
    }
    const most = Math.min(have - at, 64 * 1024);
    let bytes;
    if (this.kept !== null || agent.random() < 0.3) {
      bytes = reading.slice(oc, at, most);
      this.kept?.push([at, bytes]);
    } else {
      bytes = agent.buffer.subarray(0, reading.copyBody(oc, at, agent.buffer, 0, most));
    }
    if (bytes.length === 0) agent.fault(`no bytes at ${at} of ${have} in ${oc}`);
    this.check(at, bytes);
    this.at += bytes.length;
  }

  readHead(from) {
    const { agent, r, least } = this;
    const head = readBodyHead(from);
    this.head = head;
    if (head.url !== r.url) agent.fault(`/u${head.url} for /u${r.url}`);
    if (head.owner !== 0 && head.owner !== r.who)
      agent.fault(`${this.answer}: ${r.who} got a body of /u${head.url} that was only for ${head.owner}`);
    if (r.url % 3 === 0 && LANGS[head.lang] !== r.lang) agent.fault(`${LANGS[head.lang]} for ${r.lang}`);
    if (head.version < least)
      agent.fault(
        `${this.answer}: version ${head.version} of /u${r.url}, which was invalid before ${least}; the clock is at ${r.query?.now - T0}, ${this.facts()}`,
      );
  }

  facts() {
    const { facts } = this.agent.cache;
    return `made ${facts.tOriginOf(this.oc) - T0}, ttl ${facts.ttlOf(this.oc)}`;
  }

  check(at, bytes) {
    const from = (this.head.salt + at) & 0xffff;
    if (bytes.compare(PATTERN, from, from + bytes.length) !== 0)
      this.agent.fault(`wrong bytes at ${at} of ${this.head.length} in ${this.oc}, /u${this.head.url}`);
  }

  whole() {
    const { agent, oc } = this;
    const { reading, facts } = agent.cache;
    if (this.head === null) agent.fault(`a whole body of ${this.at} bytes, ${reading.bodyLength(oc)}`);
    else if (this.at !== this.head.length) agent.fault(`${this.at} bytes of ${this.head.length} are whole`);
    const id = facts.vxidOf(oc);
    const annex = reading.annex(oc);
    if (annex !== null && (annex.length !== 8 + (id % 100) || annex.some((byte) => byte !== (id & 255))))
      agent.fault(`another annex than that of ${id}`);
    if (agent.random() < 0.05) {
      agent.decoded.reset();
      reading.head(oc, agent.decoded);
      if (agent.decoded.getAll('x-id') !== String(id)) agent.fault(`the head of another object than ${id}`);
    }
    if (this.kept !== null && this.kept.length > 0) {
      this.isOver = true;
      this.end ??= agent.begin(`holds ${oc}`);
      setImmediate(() => setImmediate(() => this.close('read')));
      return;
    }
    this.close('read');
  }

  close(outcome) {
    const { agent } = this;
    this.isOver = true;
    // Bytes of a transient body may be gone after they were read.
    if (this.kept !== null && !agent.cache.facts.isUncacheable(this.oc))
      for (const [at, bytes] of this.kept) this.check(at, bytes);
    this.source?.detach(this);
    agent.count(outcome);
    agent.release(this.oc);
    this.end?.();
  }
}

function turn() {
  return new Promise((resolve) => setImmediate(resolve));
}

function range(count) {
  return Array.from({ length: count }, (_, i) => i);
}

function bytesOf(body, from, to) {
  const bytes = Buffer.allocUnsafe(to - from);
  for (let at = from; at < to; ) {
    const place = (body.salt + at) & 0xffff;
    const count = Math.min(to - at, 64 * 1024);
    PATTERN.copy(bytes, at - from, place, place + count);
    at += count;
  }
  if (from < HEAD) {
    const head = Buffer.alloc(HEAD);
    [body.url, body.version, body.lang, body.length, body.salt, body.owner].forEach((value, i) => {
      head.writeInt32LE(value, i * 4);
    });
    head.copy(bytes, 0, from, Math.min(HEAD, to));
  }
  return bytes;
}

function readBodyHead(from) {
  const [url, version, lang, length, salt, owner] = [0, 4, 8, 12, 16, 20].map((at) => from.readInt32LE(at));
  return { url, version, lang, length, salt, owner };
}
