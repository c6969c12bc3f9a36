// The dynamic table of one direction of a connection (RFC 7541 sections 2.3.2 and 4): a ring of entries, the newest of
// which has index 0 here. It knows nothing of the static table, nor who may choose its size.
/** Slots of a new ring; a power of two, as any later number. */
const FIRST_SLOTS = 16;
function ignore() { }
export class HpackTable {
    /** Octets that the entries may have; the sender of blocks changes it. */
    limit;
    octets = 0;
    slots = [];
    /** Slot of the newest entry. */
    newest = 0;
    used = 0;
    evicted;
    /**
     * @param limit octets that the entries may have
     * @param evicted is called with each entry that leaves the table
     */
    constructor(limit, evicted = ignore) {
        this.limit = limit;
        this.evicted = evicted;
    }
    /** Octets of all entries. */
    get size() {
        return this.octets;
    }
    get maxSize() {
        return this.limit;
    }
    /** Entry `index`, counted from the newest, or undefined when there are fewer. */
    at(index) {
        return index < this.used ? this.slots[(this.newest - index) & (this.slots.length - 1)] : undefined;
    }
    /** Changes the size, and evicts what has no room any more. */
    resize(limit) {
        this.limit = limit;
        this.evictTo(limit);
        // Most tables are never used after they are set to 0.
        if (limit === 0)
            this.slots = [];
    }
    /** Adds an entry; one that is larger than the table empties it and is not added (RFC 7541 section 4.4). */
    insert(entry) {
        const { size } = entry;
        if (this.octets + size > this.limit) {
            this.evictTo(this.limit - size);
            if (size > this.limit)
                return;
        }
        if (this.used === this.slots.length)
            this.grow();
        this.newest = (this.newest + 1) & (this.slots.length - 1);
        this.slots[this.newest] = entry;
        this.used++;
        this.octets += size;
    }
    /** Empties the table. */
    clear() {
        this.evictTo(0);
    }
    evictTo(most) {
        const mask = this.slots.length - 1;
        while (this.octets > most && this.used > 0) {
            const slot = (this.newest - this.used + 1) & mask;
            const entry = this.slots[slot];
            this.octets -= entry.size;
            this.slots[slot] = undefined;
            this.used--;
            this.evicted(entry);
        }
    }
    /** Doubles the ring; since an entry counts 32 octets at least, it stays within twice the limit's share. */
    grow() {
        const slots = new Array(Math.max(FIRST_SLOTS, this.slots.length * 2)).fill(undefined);
        for (let i = 0; i < this.used; i++)
            slots[this.used - 1 - i] = this.at(i);
        this.slots = slots;
        // Of an empty ring the slot before the first.
        this.newest = (this.used - 1) & (slots.length - 1);
    }
}
