// Checks a store at rest, without lookups, fetches, readers or waiters. All related parts must agree: rows, chains of
// keys, the LRU, the expiry heap, surrogate keys, bans, blocks of memory and counters. Reads private parts of the
// compiled cache, and changes nothing. Returns sentences about errors.

const modules = new URL('../../../dist/modules/', import.meta.url);
const row = await import(new URL('daemon/cache/objcore.js', modules).href);

const MOST_PROBLEMS = 20;
const FREE_PAGE = 255;
const RUN = 254;
const RUN_REST = 253;
const ABSENT = 252;

/**
 * @param state of one thread, which has taken in what the others have done
 * @param counters the sums over all threads
 */
export function checkStore(state, counters) {
  const problems = [];
  const say = (text) => {
    if (problems.length < MOST_PROBLEMS) problems.push(text);
  };
  const same = (what, is, expected) => {
    if (is !== expected) say(`${what}: ${is}, expected ${expected}`);
  };
  const found = findObjects(state, say, same);
  checkKeys(state, found, say, same);
  checkLrus(state, found, say, same);
  checkHeap(state, found, say, same);
  const tags = checkTags(state, found, say, same);
  checkBans(state, found, counters, say, same);
  checkBlocks(state, found, tags, say, same);
  same('n_objectcore', counters.n_objectcore, found.live.length);
  const withHead = [...found.live, ...found.discarded].filter(
    (oc) => state.objcores.get(oc, row.HEAD_BLOCK) !== 0,
  );
  same('n_object', counters.n_object, withHead.length);
  same('n_objecthead', counters.n_objecthead, state.objheads.index.count);
  return problems;
}

/** The rows in use, which the index alone holds, and those whose memory is still being freed. */
function findObjects(state, say, same) {
  const { objcores } = state;
  const live = [];
  for (let oc = 1; oc < objcores.end; oc++) {
    const refs = objcores.get(oc, row.REFS);
    if (refs === row.CLOSED) continue;
    live.push(oc);
    const meta = objcores.get(oc, row.META);
    if (refs !== 1) say(`object ${oc} has ${refs} references, meta ${meta.toString(16)}`);
    else if ((meta & row.OF_INDEXED) === 0) say(`object ${oc} is held, and not by the index`);
    else if (row.stateIn(meta) !== row.STATE_FINISHED) say(`object ${oc} has state ${row.stateIn(meta)}`);
    if ((meta & row.OF_DYING) !== 0) say(`object ${oc} is dying and indexed`);
    if ((meta & row.OF_TRIM) !== 0) say(`object ${oc} was not trimmed`);
  }
  const discarded = [];
  for (let oc = storeOf(state).discarded[0]; oc !== 0; oc = objcores.get(oc, row.KEY_NEXT)) {
    discarded.push(oc);
    if (discarded.length > objcores.end) throw new Error('the list of discarded objects is a circle');
  }
  const free = new Set();
  for (let oc = objcores.own[0]; oc !== 0; oc = objcores.get(oc, 0)) {
    if (free.has(oc)) throw new Error(`row ${oc} is free twice`);
    free.add(oc);
    if (objcores.get(oc, row.REFS) !== row.CLOSED) say(`row ${oc} is free and has references`);
  }
  same('rows in use', objcores.count, live.length + discarded.length);
  same('rows', objcores.end - 1, live.length + discarded.length + free.size);
  return { live, discarded };
}

/** The part with the list of pending frees; set by a test. */
function storeOf(state) {
  return state.storeUnderTest;
}

/** All objheads of an index, each found by its key. */
function headsOf(index, say) {
  const heads = [];
  const segments = index.own[0];
  for (let segment = 0; segment < segments; segment++) {
    const slots = index.pieces[segment >>> 4];
    const base = (segment & 15) * 4096;
    let used = 0;
    for (let slot = 0; slot < 2048; slot++) {
      const oh = slots[base + slot * 2 + 1] >>> 0;
      if (oh === 0) continue;
      used++;
      heads.push(oh);
      const key = index.keyOf(oh);
      if (index.find(key) >>> 0 !== oh) say(`key ${JSON.stringify(key)} is not found by itself`);
    }
    if (used !== index.used[segment]) say(`segment ${segment} counts ${index.used[segment]} keys of ${used}`);
  }
  if (new Set(heads).size !== heads.length) say('an objhead is twice in the index');
  return heads;
}

function checkKeys(state, found, say, same) {
  const { objcores, objheads } = state;
  const { index } = objheads;
  const heads = headsOf(index, say);
  same('keys', index.count, heads.length);
  const seen = new Set();
  for (const oh of heads) {
    let before = 0;
    if (index.first(oh) === 0) say(`key ${JSON.stringify(index.keyOf(oh))} has no object`);
    for (let oc = index.first(oh); oc !== 0; oc = objcores.get(oc, row.KEY_NEXT)) {
      if (seen.has(oc)) {
        say(`object ${oc} is twice in chains`);
        break;
      }
      seen.add(oc);
      same(`the objhead of object ${oc}`, objcores.get(oc, row.OBJHEAD) >>> 0, oh);
      same(`the neighbour of object ${oc}`, objcores.get(oc, row.KEY_PREV), before);
      before = oc;
    }
  }
  for (const oc of found.live) if (!seen.has(oc)) say(`object ${oc} is in no chain`);
  same('objects in chains', seen.size, found.live.length);
  found.heads = heads;
}

function checkLrus(state, found, say, same) {
  const { objcores, stevedores } = state;
  const seen = new Set();
  stevedores.all.forEach(({ lru }, number) => {
    let younger = 0;
    for (let oc = lru.own[0]; oc !== 0; oc = objcores.get(oc, row.LRU_NEXT)) {
      if (seen.has(oc)) {
        say(`object ${oc} is twice in LRUs`);
        break;
      }
      seen.add(oc);
      const meta = objcores.get(oc, row.META);
      if ((meta & row.OF_IN_LRU) === 0) say(`object ${oc} does not know that it is in the LRU`);
      same(`the storage of object ${oc}`, row.storageIn(meta), number);
      same(`the younger neighbour of object ${oc}`, objcores.get(oc, row.LRU_PREV), younger);
      younger = oc;
    }
    same(`the oldest of storage ${number}`, lru.oldest, younger);
  });
  for (const oc of found.live) if (!seen.has(oc)) say(`object ${oc} is in no LRU`);
  same('objects in LRUs', seen.size, found.live.length);
}

function checkHeap(state, found, say, same) {
  const { objcores, expiryHeap: heap } = state;
  let gaps = 0;
  for (let at = 0; at < heap.length; at++) {
    const oc = heap.ocAt(at);
    if (at > 0 && heap.tickAt((at - 1) >>> 2) > heap.tickAt(at)) say(`the heap is out of order at ${at}`);
    if (oc === 0) gaps++;
    else same(`the place of object ${oc} in the heap`, objcores.get(oc, row.HEAP_POS), at + 1);
  }
  same('gaps of the heap', heap.gaps, gaps);
  same('objects in the heap', heap.size, found.live.length);
  for (const oc of found.live) if (objcores.get(oc, row.HEAP_POS) === 0) say(`object ${oc} does not expire`);
}

/** Returns the tags that are there. */
function checkTags(state, found, say, same) {
  const { objcores, tags } = state;
  const { keys, links } = tags;
  const [OBJECT, TAG, PREV, NEXT, NEXT_OF_OBJECT] = [0, 1, 2, 3, 4];
  const members = new Map();
  let count = 0;
  for (const oc of found.live) {
    if ((objcores.get(oc, row.META) & row.OF_TAGGED) === 0) continue;
    for (let link = objcores.get(oc, row.SURROGATE); link !== 0; link = links.get(link, NEXT_OF_OBJECT)) {
      count++;
      same(`the object of link ${link}`, links.get(link, OBJECT), oc);
      const tag = links.get(link, TAG) >>> 0;
      if (!members.has(tag)) members.set(tag, new Set());
      members.get(tag).add(link);
    }
  }
  same('links', links.count, count);
  const heads = headsOf(keys, say);
  same('tags', keys.count, heads.length + tags.doomed[0]);
  for (const tag of heads) {
    const own = members.get(tag) ?? new Set();
    let before = 0;
    let length = 0;
    for (let link = keys.first(tag); link !== 0; link = links.get(link, NEXT)) {
      if (++length > count) throw new Error('the links of a tag are a circle');
      if (!own.has(link)) say(`link ${link} is in a chain, and its object does not know`);
      same(`the neighbour of link ${link}`, links.get(link, PREV), before);
      before = link;
    }
    same(`members of ${keys.keyOf(tag)}`, length, own.size);
    same(`the count of ${keys.keyOf(tag)}`, tags.count(tag), length);
  }
  return heads;
}

function checkBans(state, found, counters, say, same) {
  const { objcores, bans } = state;
  const named = new Map();
  for (const oc of found.live) {
    const number = objcores.get(oc, row.BAN);
    named.set(number, (named.get(number) ?? 0) + 1);
  }
  let count = 0;
  let open = 0;
  let completed = 0;
  found.sources = [];
  for (const ban of bans) {
    count++;
    same(`objects that name ban ${ban.number}`, ban.refs, named.get(ban.number) ?? 0);
    named.delete(ban.number);
    if (ban.completed) completed++;
    else if (!ban.expression.usesRequest) open++;
    const source = bans.rows.get(ban.row, 6) >>> 0;
    if (source !== 0) found.sources.push(source);
  }
  for (const number of named.keys()) say(`objects name ban ${number}, which is not there`);
  same('bans', counters.bans, count);
  same('bans_completed', counters.bans_completed, completed);
  same('rows of bans', bans.rows.count, count);
  same('open bans', bans.own[5], open);
}

function checkBlocks(state, found, tags, say, same) {
  const { objcores, stevedores, objheads, bans } = state;
  const owned = stevedores.all.map(() => []);
  for (const oc of [...found.live, ...found.discarded]) {
    const number = row.storageIn(objcores.get(oc, row.META));
    const { slab } = stevedores.all[number];
    const mine = owned[number];
    for (const word of [row.HEAD_BLOCK, row.ANNEX]) {
      const block = objcores.get(oc, word) >>> 0;
      if (block !== 0) mine.push(block);
    }
    let bytes = 0;
    for (let extent = objcores.get(oc, row.EXTENT) >>> 0; extent !== 0; ) {
      mine.push(extent);
      const words = slab.chunkWords(extent);
      const at = slab.offset(extent) >>> 2;
      bytes += words[at + 1];
      if (words[at + 1] + 8 > slab.sizeOf(extent)) say(`an extent of object ${oc} has more than it holds`);
      extent = words[at];
    }
    const length = objcores.getDouble(oc, row.BODY_LENGTH);
    const isMarker = (objcores.get(oc, row.META) & row.OF_MARKER) !== 0;
    if (bytes > length) say(`object ${oc} has extents of ${bytes} bytes for a body of ${length}`);
    if (!isMarker && !found.discarded.includes(oc) && objcores.get(oc, row.INLINE_AT) === 0)
      same(`bytes of object ${oc}`, bytes, length);
  }
  for (const [i, { name, slab }] of stevedores.all.entries()) checkSlab(name, slab, owned[i], say, same);
  checkSlab('keys', objheads.index.keys, found.heads, say, same);
  if (state.tags.doomed[0] === 0) checkSlab('tags', state.tags.keys.keys, tags, say, same);
  if (bans.sources !== null) checkSlab('bans', bans.sources, found.sources, say, same);
}

/** Every block has one owner, and pages, lists and figures agree with that. */
function checkSlab(name, slab, owned, say, same) {
  const unique = new Set(owned);
  if (unique.size !== owned.length) say(`${name}: a block has two owners`);
  same(`${name}: blocks`, slab.figures[4], owned.length);
  same(
    `${name}: bytes`,
    slab.figures[5],
    owned.reduce((sum, block) => sum + slab.sizeOf(block), 0),
  );
  const shift = slab.pageShift - 4;
  const used = new Map();
  for (const block of owned) {
    const page = block >>> shift;
    used.set(page, (used.get(page) ?? 0) + 1);
  }
  const free = listOf(slab.own[1], slab.pageNext, slab.pagePrev, `${name}: free pages`, say);
  const partial = slab.classes.sizes.map((_, cls) =>
    listOf(slab.partial[cls], slab.pageNext, slab.pagePrev, `${name}: class ${cls}`, say),
  );
  let made = 0;
  for (let chunk = 1; chunk < slab.own[3]; chunk++) {
    let inUse = 0;
    const first = chunk * slab.pagesPerChunk;
    for (let page = first; page < first + slab.pagesPerChunk; page++) {
      const cls = slab.pageClass[page];
      if (cls === ABSENT) continue;
      made++;
      if (cls === FREE_PAGE) {
        if (!free.has(page)) say(`${name}: page ${page} is free and not listed`);
        if (used.has(page)) say(`${name}: page ${page} is free and has an owner`);
        continue;
      }
      inUse++;
      if (cls === RUN_REST) continue;
      if (cls === RUN) {
        same(`${name}: owners of the run at ${page}`, used.get(page) ?? 0, 1);
        continue;
      }
      const count = slab.pageUsed[page];
      same(`${name}: blocks of page ${page}, class ${cls}`, count, used.get(page) ?? 0);
      same(`${name}: whether page ${page} has room`, partial[cls].has(page), count < slab.perPage[cls]);
      checkFreeBlocks(name, slab, page, cls, unique, say);
    }
    same(`${name}: pages in use of chunk ${chunk}`, slab.usedOf(chunk), inUse);
  }
  same(`${name}: pages`, slab.own[0], made);
}

function checkFreeBlocks(name, slab, page, cls, owned, say) {
  const granules = slab.classes.sizes[cls] >>> 4;
  const base = page << (slab.pageShift - 4);
  let left = slab.pageBump[page] - slab.pageUsed[page];
  for (let next = slab.pageFree[page]; next !== 0; left--) {
    if (left === 0) {
      say(`${name}: page ${page} has too many free blocks`);
      return;
    }
    const block = (base + (next - 1) * granules) >>> 0;
    if (owned.has(block)) say(`${name}: block ${block} is free and has an owner`);
    next = slab.chunkWords(block)[slab.offset(block) >>> 2];
  }
  if (left !== 0) say(`${name}: ${left} blocks of page ${page} belong to nobody`);
}

function listOf(first, nexts, prevs, name, say) {
  const pages = new Set();
  let before = 0;
  for (let page = first; page !== 0; page = nexts[page]) {
    if (pages.has(page)) {
      say(`${name} are a circle`);
      break;
    }
    if (prevs[page] !== before) say(`${name}: page ${page} has another neighbour`);
    pages.add(page);
    before = page;
  }
  return pages;
}
