// What the charts take of blessed-contrib: the drawing of two widgets, and the canvas of braille dots they draw on.

/// <reference path="./chart-modules.d.ts" />
import line from 'blessed-contrib/lib/widget/charts/line.js';
import donut from 'blessed-contrib/lib/widget/donut.js';
import drawille from 'drawille-canvas-blessed-contrib';

interface Context {
  _canvas: { frame(): string };
}

export interface LineWidget {
  options: Record<string, unknown>;
  canvasSize: { width: number; height: number };
  _canvas: unknown;
  ctx: Context;
  calcSize(): void;
  setData(data: { x: string[]; y: number[]; style: { line: number } }[]): void;
}

export interface DonutWidget {
  options: Record<string, unknown>;
  canvasSize: { width: number; height: number };
  ctx: Context;
  setData(data: { percent: number; label: string; color: number }[]): void;
}

/** A widget without a screen: its constructor would ask for one. */
export function lineWidget(): LineWidget {
  return Object.create((line as { prototype: object }).prototype) as LineWidget;
}

/** The same of a ring. */
export function donutWidget(): DonutWidget {
  return Object.create((donut as { prototype: object }).prototype) as DonutWidget;
}

/** Width and height in dots: two by four of a cell. */
export function canvas(width: number, height: number): { getContext(): Context } {
  return new (
    drawille as { Canvas: new (width: number, height: number) => { getContext(): Context } }
  ).Canvas(width, height);
}
