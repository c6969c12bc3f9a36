// Basenames that stand more than once in the tree, each with the reason: siblings of one kind, where the folder says
// which one is meant. basenames.test.ts holds the tree to this list; a new row needs a reason as good.

export interface SharedBasename {
  readonly files: readonly string[];
  readonly reason: string;
}

export const SHARED_BASENAMES: Readonly<Record<string, SharedBasename>> = {
  'expressions.ts': {
    files: ['daemon/vcl/check/expressions.ts', 'daemon/vcl/codegen/expressions.ts'],
    reason: 'two passes of the compiler over the same nodes',
  },
  'statements.ts': {
    files: ['daemon/vcl/check/statements.ts', 'daemon/vcl/codegen/statements.ts'],
    reason: 'two passes of the compiler over the same nodes',
  },
};
