// Filters of an extension for the bench: some change nothing, and some rewrite each body.
const COPY = { transform: (bytes) => bytes };

export const extension = {
  abi: 1,
  filters: {
    see: { side: 'fetch', changes: 'nothing', open: () => COPY },
    copy: { side: 'fetch', changes: 'bytes', open: () => COPY },
    see_delivered: { side: 'delivery', changes: 'nothing', open: () => COPY },
    copy_delivered: { side: 'delivery', changes: 'bytes', open: () => COPY },
  },
};
