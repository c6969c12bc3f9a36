// What the charts take of blessed-contrib: the drawing of its donut, and the canvas of braille dots that it draws on.

/// <reference path="./chart-modules.d.ts" />
import donut from 'blessed-contrib/lib/widget/donut.js';
import drawille from 'drawille-canvas-blessed-contrib';

interface Context {
  _canvas: { frame(): string };
}

export interface DonutWidget {
  options: Record<string, unknown>;
  canvasSize: { width: number; height: number };
  ctx: Context;
  setData(data: { percent: number; label: string; color: number }[]): void;
}

/** A widget without a screen: its constructor would ask for one. */
export function donutWidget(): DonutWidget {
  return Object.create((donut as { prototype: object }).prototype) as DonutWidget;
}

/** Width and height in dots: two by four of a cell. */
export function canvas(width: number, height: number): { getContext(): Context } {
  return new (
    drawille as { Canvas: new (width: number, height: number) => { getContext(): Context } }
  ).Canvas(width, height);
}
