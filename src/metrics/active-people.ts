import { hash } from 'node:crypto';
import type { Registry } from 'prom-client';

/**
 * The shape of a sketch: layers of bits, of which the first stands for everybody and each next one for a sixteenth of
 * the people of the one before. It fits some sixty million people, and what two processes saw is merged by `OR`.
 *
 * @see Estan, Varghese, Fisk: Bitmap algorithms for counting active flows (2003)
 */
export const sketchShape = { layers: 4, bits: 4_096, sample: 16 } as const;

const { layers, bits, sample } = sketchShape;
/** Above this share of set bits, a layer says too little; the next one says more. */
const fullAt = 0.98;

const sketches = new WeakMap<Registry, Uint8Array>();

const emptySketch = (): Uint8Array => new Uint8Array((layers * bits) / 8);

/** Notes that a person did something: signed in, or got a token. It is forgotten who it was. */
export function noteActive(registry: Registry, userId: string): void {
  const sketch = sketches.get(registry) ?? emptySketch();
  sketches.set(registry, sketch);
  const digest = hash('sha256', userId, 'buffer');
  const place = digest.readUInt16BE(0) % bits;
  const lot = digest.readUInt16BE(2);
  for (let layer = 0; layer < layers && lot % sample ** layer === 0; layer += 1) {
    const bit = layer * bits + place;
    sketch[bit >> 3] = (sketch[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  }
}

/** Takes what was noted since the last time; undefined if that is nothing. */
export function takeActive(registry: Registry): Uint8Array | undefined {
  const sketch = sketches.get(registry);
  sketches.delete(registry);
  return sketch;
}

/** Puts back what could not be stored. */
export function putBackActive(registry: Registry, sketch: Uint8Array): void {
  const noted = sketches.get(registry);
  sketches.set(registry, noted ? sketch.map((byte, index) => byte | (noted[index] ?? 0)) : sketch);
}

/**
 * About how many people a sketch has seen: exact for a few, within some four per cent for many.
 *
 * @param counts The number of set bits of each layer.
 */
export function estimatePeople(counts: readonly number[]): number {
  const found = counts.findIndex((count) => count <= fullAt * bits);
  const layer = found < 0 ? layers - 1 : found;
  const set = Math.min(counts[layer] ?? 0, bits - 1);
  return Math.round(sample ** layer * -bits * Math.log(1 - set / bits));
}
