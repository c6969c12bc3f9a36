// The chart library brings no types. chart-widgets.ts says what is taken of it.

declare module 'blessed-contrib/lib/widget/donut.js' {
  const widget: unknown;
  export default widget;
}

declare module 'drawille-canvas-blessed-contrib' {
  const drawille: unknown;
  export default drawille;
}
