/** Name and value of each entry; '' where the entry has no value. */
export declare const STATIC_ENTRIES: readonly (readonly [name: string, value: string])[];
/** Number of entries: the index of the newest dynamic entry is one more. */
export declare const STATIC_COUNT: number;
