// The folders of the source tree and which of them each may import, types included: arrows of ARCHITECTURE.md as data.
// A file at the top of daemon/ stands for itself. folders.test.ts holds the tree to this list, and the list to having no
// circle.

export const ARROWS: Readonly<Record<string, readonly string[]>> = {};
