// blessed-contrib brings no types for single widgets. Declared here is the part of its donut that donut.ts uses.

declare module 'blessed-contrib/lib/widget/donut.js' {
  interface DonutOptions {
    /** The screen of blessed that it belongs to. */
    screen: object;
    /** In dots. */
    radius: number;
    arcWidth: number;
    yPadding?: number;
  }

  export default class Donut {
    constructor(options: DonutOptions);
    readonly options: DonutOptions;
    /** In dots, two by four of a cell; set by calcSize(), which `attach` calls. */
    canvasSize: { width: number; height: number };
    /** Made by `attach`. */
    readonly ctx: { canvas: { frame(): string } };
    calcSize(): void;
    emit(event: 'attach'): boolean;
    /** `percent` from 0 to 1, `color` a name or a number of 256. */
    setData(rings: readonly { percent: number; label: string; color: number }[]): void;
  }
}
