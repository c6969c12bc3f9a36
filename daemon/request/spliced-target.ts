// A packed fragment on its way into a packed page: its deflate data, made to go on with what follows.

import { SplicedData, type StreamPlaces } from '../esi/gzip-stitch.ts';
import type { PageOutput } from '../filters/page-output.ts';
import { PageTarget } from './page-target.ts';

export class SplicedTarget extends PageTarget {
  private readonly places: StreamPlaces;
  private readonly data: SplicedData;

  constructor(output: PageOutput, places: StreamPlaces) {
    super(output, (bytes) => output.put(bytes));
    this.places = places;
    this.data = new SplicedData(places);
  }

  override write(parts: readonly Buffer[]): boolean {
    return super.write(parts.flatMap((part) => this.data.take(part)));
  }

  override end(): void {
    this.output.sum?.add(this.places);
  }
}
