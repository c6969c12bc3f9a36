/** An entry has a size as RFC 7541 section 4.1 counts it, in octets. */
interface TableEntry {
    readonly size: number;
}
export declare class HpackTable<Entry extends TableEntry> {
    /** Octets that the entries may have; the sender of blocks changes it. */
    private limit;
    private octets;
    private slots;
    /** Slot of the newest entry. */
    private newest;
    private used;
    private readonly evicted;
    /**
     * @param limit octets that the entries may have
     * @param evicted is called with each entry that leaves the table
     */
    constructor(limit: number, evicted?: (entry: Entry) => void);
    /** Octets of all entries. */
    get size(): number;
    get maxSize(): number;
    /** Entry `index`, counted from the newest, or undefined when there are fewer. */
    at(index: number): Entry | undefined;
    /** Changes the size, and evicts what has no room any more. */
    resize(limit: number): void;
    /** Adds an entry; one that is larger than the table empties it and is not added (RFC 7541 section 4.4). */
    insert(entry: Entry): void;
    /** Empties the table. */
    clear(): void;
    private evictTo;
    /** Doubles the ring; since an entry counts 32 octets at least, it stays within twice the limit's share. */
    private grow;
}
export {};
